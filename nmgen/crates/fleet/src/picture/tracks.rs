//! The lines between two rows: each lower end has a track of its own where two would run along each other.

/// Between two lines side by side.
pub(super) const APART: f64 = 8.0;

/// The lines to one lower end.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) bottom: Pin,
    pub(super) tops: Vec<Pin>,
    /// Counted from the top; none if it has no way across.
    pub(super) track: Option<usize>,
}

/// An end of a line, which may move by `room` to either side of its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub(super) x: f64,
    pub(super) middle: f64,
    pub(super) room: f64,
}

impl Pin {
    pub(super) fn new(x: f64, room: f64) -> Self {
        Self { x: x.round(), middle: x.round(), room: room.max(0.0) }
    }

    fn reaches(&self, x: f64) -> bool {
        (x - self.middle).abs() <= self.room
    }
}

/// Moves ends apart and gives tracks; returns how many.
pub(super) fn route(nets: &mut [Net]) -> usize {
    straighten(nets);
    separate(nets);
    tracks(nets)
}

/// A line alone is straight if either end can be above the other; of several, one that nearly is.
fn straighten(nets: &mut [Net]) {
    for net in nets {
        let [top] = &mut net.tops[..] else {
            let is_near = |top: &&Pin| (top.x - net.bottom.x).abs() < 3.0 * APART;
            if let Some(top) = net.tops.iter().find(is_near).filter(|top| net.bottom.reaches(top.x))
            {
                net.bottom.x = top.x;
            }
            continue;
        };
        if net.bottom.reaches(top.x) {
            net.bottom.x = top.x;
        } else if top.reaches(net.bottom.x) {
            top.x = net.bottom.x;
        }
    }
}

/// Ends that have the least room come first.
fn separate(nets: &mut [Net]) {
    let mut ends: Vec<(usize, Option<usize>)> = Vec::new();
    for (index, net) in nets.iter().enumerate() {
        ends.push((index, None));
        ends.extend((0..net.tops.len()).map(|top| (index, Some(top))));
    }
    let is_straight = |net: &Net| net.tops.iter().all(|top| top.x == net.bottom.x);
    let key = |(net, top): &(usize, Option<usize>)| {
        let net = &nets[*net];
        let pin = top.map_or(&net.bottom, |top| &net.tops[top]);
        (pin.room >= APART, !is_straight(net))
    };
    ends.sort_by_key(key);
    let mut taken: Vec<(f64, usize)> = Vec::new();
    for (net, top) in ends {
        let is_free = |x: f64| {
            let near = taken.partition_point(|(other, _)| *other <= x - APART);
            let mut near = taken[near..].iter().take_while(|(other, _)| *other < x + APART);
            near.all(|(_, other)| *other == net)
        };
        let pin = top.map_or(nets[net].bottom, |top| nets[net].tops[top]);
        let steps = (0..=(2.0 * pin.room / APART) as i32).flat_map(|step| [step, -step]);
        let ways = steps.map(|step| f64::from(step).mul_add(APART, pin.x));
        let x = ways.filter(|x| pin.reaches(*x)).find(|x| is_free(*x)).unwrap_or(pin.x);
        match top {
            None => nets[net].bottom.x = x,
            Some(top) => nets[net].tops[top].x = x,
        }
        let place = taken.partition_point(|(other, _)| *other < x);
        taken.insert(place, (x, net));
    }
}

impl Net {
    fn ends(&self) -> impl Iterator<Item = f64> {
        self.tops.iter().map(|top| top.x).chain([self.bottom.x])
    }

    /// From the leftmost to the rightmost end.
    fn span(&self) -> (f64, f64) {
        self.ends()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), x| (from.min(x), to.max(x)))
    }
}

/// Each net goes below those that it crosses less often from there.
fn tracks(nets: &mut [Net]) -> usize {
    let spans: Vec<(f64, f64)> = nets.iter().map(Net::span).collect();
    let mut order: Vec<usize> =
        (0..nets.len()).filter(|index| spans[*index].0 < spans[*index].1).collect();
    order.sort_by(|one, other| spans[*one].0.total_cmp(&spans[*other].0));
    let is_within = |x: f64, span: (f64, f64)| span.0 <= x && x <= span.1;
    let crossings = |upper: usize, lower: usize| {
        let down = nets[lower].tops.iter().filter(|top| is_within(top.x, spans[upper])).count();
        down + usize::from(is_within(nets[upper].bottom.x, spans[lower]))
    };
    if order.len() <= MAX_ORDERED {
        for _ in 0..order.len() {
            for at in 1..order.len() {
                let (upper, lower) = (order[at - 1], order[at]);
                if crossings(lower, upper) < crossings(upper, lower) {
                    order.swap(at - 1, at);
                }
            }
        }
    }
    // Before it in the order, and on its way.
    let mut count = 0;
    for (at, &index) in order.iter().enumerate() {
        let near = |other: &&usize| {
            let (one, other) = (spans[index], spans[**other]);
            one.0 - APART < other.1 && other.0 < one.1 + APART
        };
        let above = order[..at].iter().filter(near).filter_map(|other| nets[*other].track).max();
        let track = above.map_or(0, |track| track + 1);
        nets[index].track = Some(track);
        count = count.max(track + 1);
    }
    count
}

/// More are in the order of their left ends.
const MAX_ORDERED: usize = 40;
