//! `nmgen show --format svg`: the documentation's pictures, golden (`BLESS=1` rewrites them), and hostile text.

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::program::{self, Exits as _};

/// A picture, and the arguments that draw it, in the directory of its source.
struct Picture {
    file: &'static str,
    here: &'static str,
    arguments: &'static [&'static str],
}

const PICTURES: &[Picture] = &[
    Picture {
        file: "nmgen/doc/pictures/cluster.svg",
        here: "examples/cluster",
        arguments: &["--br-ex", "install-config.yaml"],
    },
    Picture {
        file: "tests/fixtures/pictures/every-kind.svg",
        here: "tests/fixtures/pictures",
        arguments: &["every-kind.yml"],
    },
];

fn svg(here: &Path, arguments: &[&str]) -> String {
    let call = [&["show", "--format", "svg"], arguments].concat();
    program::nmgen_in(here, &call).exits(0).out().to_owned()
}

fn compare(file: &str, found: &str) {
    let path = program::root().join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == found, "{file} is out of date");
}

#[tests::case]
fn every_picture_shows_its_document() {
    for picture in PICTURES {
        compare(picture.file, &svg(&program::root().join(picture.here), picture.arguments));
    }
}

/// The document in a guide.
fn document_of(guide: &str, file: &str) -> String {
    let guide = program::root().join("nmgen/doc/guides").join(guide);
    let guide = fs::read_to_string(guide).unwrap();
    let (_, document) = guide.split_once(&format!("```yaml file={file}\n")).unwrap();
    document.split_once("```").unwrap().0.to_owned()
}

/// The picture of a document.
fn drawn(name: &str, document: &str, arguments: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(name), document).unwrap();
    svg(place.path(), &[arguments, &[name]].concat())
}

fn both_stages() -> String {
    drawn("worker-0.yml", &document_of("stages.md", "worker-0.yml"), &["--br-ex"])
}

fn twenty() -> String {
    drawn("worker-1.yml", &document_of("pictures.md", "worker-1.yml"), &[])
}

#[tests::case]
fn the_pictures_of_guides_show_their_documents() {
    compare("nmgen/doc/pictures/two-stages.svg", &both_stages());
    compare("nmgen/doc/pictures/twenty-interfaces.svg", &twenty());
}

/// The words of a picture, in its order.
fn words(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text ").skip(1).filter_map(|text| text.split_once('>'));
    texts.map(|(_, text)| text.split_once("</text>").unwrap().0.trim()).collect()
}

#[tests::case]
fn what_moves_between_two_stages_is_marked_in_both_without_colour() {
    let svg = both_stages();
    let words = words(&svg);
    assert!(words.contains(&"192.0.2.10/24 \u{2192} br-ex"), "{words:?}");
    assert!(words.contains(&"192.0.2.10/24 \u{2190} bond0.100"), "{words:?}");
    assert!(words.contains(&"198.51.100.10/24"), "{words:?}");
    assert_eq!(words.iter().filter(|word| **word == "new").count(), 2);
}

/// A horizontal or vertical stretch, from one end to the other along an axis, and the point to which its line leads.
#[derive(Debug, Clone)]
struct Stretch {
    is_across: bool,
    at: f64,
    span: (f64, f64),
    end: (f64, f64),
}

/// The stretches of all lines but those through the rows of others, which have one end of their own.
fn stretches(svg: &str) -> Vec<Stretch> {
    let paths = svg.split("<path class=\"edge\" d=\"").skip(1);
    let lines = paths.flat_map(|path| path.split_once('"').unwrap().0.split('M').skip(1));
    lines.flat_map(stretches_of).collect()
}

fn stretches_of(line: &str) -> Vec<Stretch> {
    let number = |text: &str| text.parse::<f64>().unwrap();
    let (start, rest) = line.split_once('V').unwrap();
    let (x, mut y) = start.split_once(' ').map(|(x, y)| (number(x), number(y))).unwrap();
    let mut stretches = Vec::new();
    let mut down = |x: f64, y: &mut f64, to: f64| {
        stretches.push((false, x, (y.min(to), y.max(to))));
        *y = to;
    };
    let end = match rest.split_once('H') {
        None => {
            down(x, &mut y, number(rest));
            (x, y)
        }
        Some((track, rest)) => {
            let (across, last) = rest.split_once('V').unwrap();
            down(x, &mut y, number(track));
            let across = number(across);
            let track = y;
            down(across, &mut y, number(last));
            stretches.push((true, track, (x.min(across), x.max(across))));
            (across, y)
        }
    };
    let stretch = |(is_across, at, span)| Stretch { is_across, at, span, end };
    stretches.into_iter().map(stretch).collect()
}

/// Two stretches of lines to different ends that run along each other.
fn shared(svg: &str) -> Vec<(Stretch, Stretch)> {
    let all = stretches(svg);
    assert!(!all.is_empty(), "{svg}");
    let mut shared = Vec::new();
    for (one, other) in (0..all.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
        let (one, other) = (&all[one], &all[other]);
        let is_along = one.is_across == other.is_across && (one.at - other.at).abs() < 4.0;
        let overlap = one.span.1.min(other.span.1) - one.span.0.max(other.span.0);
        if is_along && overlap > 0.0 && one.end != other.end {
            shared.push((one.clone(), other.clone()));
        }
    }
    shared
}

#[tests::case]
fn lines_of_two_bonds_share_no_bus_nor_any_other_stretch() {
    assert!(shared(&twenty()).is_empty(), "{:?}", shared(&twenty()));
    // Bridges over the VLANs of both bonds, and a bond that a bridge and VLANs stand on.
    let mut document = "interfaces:\n".to_owned();
    for bond in 0..2 {
        let (one, other) = (2 * bond, 2 * bond + 1);
        document += &format!(
            "- {{name: bond{bond}, type: bond, link-aggregation: {{mode: active-backup, port: [e{one}, e{other}]}}}}\n"
        );
    }
    for id in 0..4 {
        for bond in 0..2 {
            document += &format!(
                "- {{name: bond{bond}.{id}, type: vlan, vlan: {{base-iface: bond{bond}, id: {id}}}}}\n"
            );
        }
        document += &format!(
            "- {{name: br{id}, type: linux-bridge, bridge: {{port: [{{name: bond0.{id}}}, {{name: bond1.{id}}}]}}}}\n"
        );
        document +=
            &format!("- {{name: br{id}.7, type: vlan, vlan: {{base-iface: br{id}, id: 7}}}}\n");
    }
    document += "- {name: br-ex, type: ovs-bridge, bridge: {port: [{name: bond1}, {name: br-ex}]}}\n\
        - {name: br-ex, type: ovs-interface, ipv4: {enabled: true, dhcp: true}}\n\
        - {name: up, type: mac-vlan, mac-vlan: {base-iface: e0, mode: bridge}}\n";
    let svg = drawn("a.yml", &document, &[]);
    assert!(shared(&svg).is_empty(), "{:?}", shared(&svg));
    // Each bridge has a line to one bond, and names the other.
    assert_eq!(words(&svg).iter().filter(|word| **word == "on bond1").count(), 4, "{svg}");
}

fn numbers(text: &str, keys: [&str; 4]) -> [f64; 4] {
    keys.map(|key| {
        let (_, rest) = text.split_once(&format!(" {key}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    })
}

/// Left, top, right and bottom of all rectangles of a class.
fn rectangles(svg: &str, class: &str) -> Vec<[f64; 4]> {
    let found = svg.split("<rect ").skip(1).map(|piece| piece.split_once("/>").unwrap().0);
    let found = found.filter(|rectangle| rectangle.contains(&format!("class=\"{class}\"")));
    let sides =
        found.map(|rectangle| numbers(&format!(" {rectangle}"), ["x", "y", "width", "height"]));
    sides.map(|[x, y, width, height]| [x, y, x + width, y + height]).collect()
}

/// Names of the bricks, by their order the bricks'.
fn names(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text class=\"name\"").skip(1);
    let texts = texts.map(|text| text.split_once('>').unwrap().1.split_once("</text>").unwrap().0);
    texts.map(str::trim).collect()
}

#[tests::case]
fn ports_are_in_the_frame_of_their_controller() {
    let svg = twenty();
    let bricks: Vec<(&str, [f64; 4])> =
        names(&svg).into_iter().zip(rectangles(&svg, "brick")).collect();
    assert_eq!(bricks.len(), 20);
    let mut frames: Vec<Vec<&str>> = Vec::new();
    for [left, top, right, bottom] in rectangles(&svg, "frame") {
        let is_in = |sides: &[f64; 4]| {
            left < sides[0] && top < sides[1] && sides[2] < right && sides[3] < bottom
        };
        frames
            .push(bricks.iter().filter(|(_, sides)| is_in(sides)).map(|(name, _)| *name).collect());
    }
    for ports in [
        &["ens1f0", "ens1f1", "bond0"][..],
        &["ens2f0", "ens2f1", "bond1"],
        &["bond1.500", "br-vm", "ens3f0"],
    ] {
        let mut ports = ports.to_vec();
        ports.sort_unstable();
        frames.iter_mut().for_each(|frame| frame.sort_unstable());
        assert!(frames.contains(&ports), "{ports:?} in {frames:?}");
    }
}

#[tests::case]
fn twenty_interfaces_and_long_routes_fit_a_page() {
    let size = |svg: &str| numbers(svg, ["width", "height", "width", "height"]);
    let [width, height, ..] = size(&twenty());
    assert!(width <= 1_100.0 && height <= 1_100.0, "{width} x {height}");
    let mut document = "interfaces:\n".to_owned();
    let mut routes = "routes:\n  config:\n".to_owned();
    for id in 0..12 {
        document +=
            &format!("- {{name: eno1.{id}, type: vlan, vlan: {{base-iface: eno1, id: {id}}}}}\n");
        routes += &format!(
            "  - {{destination: '2001:db8:{id}:1::/64', next-hop-address: '2001:db8::1', next-hop-interface: eno1.{id}}}\n"
        );
    }
    let [width, height, ..] = size(&drawn("a.yml", &(document + &routes), &[]));
    assert!(width <= 1_100.0 && height <= 1_100.0, "{width} x {height}");
}

#[tests::case]
fn the_title_names_every_host_once() {
    let place = tempfile::tempdir().unwrap();
    let document =
        "interfaces:\n- {name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}}\n";
    for host in 0..7 {
        let document = document
            .replace("eno1, type", &format!("eno1, mac-address: 52:54:00:00:00:0{host}, type"));
        fs::write(place.path().join(format!("worker-{host}.yml")), document).unwrap();
    }
    let svg = svg(place.path(), &["--br-ex", "."]);
    let title = svg.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
    let hosts = (0..7).map(|host| format!("worker-{host}")).collect::<Vec<_>>().join(", ");
    assert_eq!(title.trim(), format!("Network of {hosts}"));
    // Hosts that differ in addresses only are one picture, in both stages, which marks what differs.
    assert_eq!(svg.matches("class=\"title\"").count(), 2);
    assert!(words(&svg).contains(&"52:54:00:00:00:00 \u{2026}"), "{svg}");
}

#[tests::case]
fn the_tree_has_what_stands_on_one_bond_together() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.yml"), document_of("pictures.md", "worker-1.yml")).unwrap();
    let mut show = Command::new(program::nmgen());
    let shown = show.args(["show", "a.yml"]).current_dir(place.path()).output().unwrap();
    let shown = shown.out();
    let tops = shown.lines().filter_map(|line| line.strip_prefix(['├', '└']));
    let tops: Vec<&str> = tops.filter_map(|line| line.split_whitespace().nth(1)).collect();
    let expected = ["bond0.200", "bond0.300", "br-ex", "bond1.600", "br-storage", "br-vm"];
    assert_eq!(tops[1..7], expected, "{shown}");
}

#[tests::case]
fn the_text_of_strangers_is_text_in_a_picture() {
    let place = tempfile::tempdir().unwrap();
    let document = "interfaces:\n- {name: \"<script>&'\\\"\\e[2J\\uFFFE\", type: ethernet}\n";
    fs::write(place.path().join("a.yml"), document).unwrap();
    let svg = svg(place.path(), &["a.yml"]);
    assert!(!svg.contains("<script"));
    assert!(words(&svg).contains(&"&lt;script&gt;&amp;'\"\u{fffd}[2J\u{fffd}"), "{svg}");
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()), "{svg}");
}

#[tests::case]
fn interfaces_in_a_circle_and_a_thousand_of_them_are_drawn() {
    let place = tempfile::tempdir().unwrap();
    let circle = "interfaces:\n- {name: a, type: vlan, vlan: {base-iface: b, id: 1}}\n\
        - {name: b, type: vlan, vlan: {base-iface: a, id: 1}}\n";
    fs::write(place.path().join("a.yml"), circle).unwrap();
    let words_of = svg(place.path(), &["a.yml"]);
    assert_eq!(words(&words_of), ["a.yml", "a", "vlan 1", "b", "vlan 1", "on a"]);
    let many: String = (0..1_000)
        .map(|id| format!("- {{name: e.{id}, type: vlan, vlan: {{base-iface: e, id: {id}}}}}\n"))
        .collect();
    fs::write(place.path().join("a.yml"), format!("interfaces:\n{many}")).unwrap();
    let svg = svg(place.path(), &["a.yml"]);
    assert_eq!(svg.matches("class=\"name\"").count(), 1_001);
}
