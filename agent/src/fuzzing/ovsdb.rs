//! The bytes that OVSDB sends, to a client that lists the bridges and forgets OVN's database.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

use super::block_on;
use crate::{
    client::ovsdb::{
        Ovsdb,
        messages::{Message, Messages},
    },
    model::Bridge,
};

pub(super) fn run(input: &[u8]) {
    assert_eq!(received(input, input.len().max(1)), received(input, 1));
    let bridges = block_on(async {
        let pair = UnixStream::pair();
        let Ok((ours, theirs)) = pair else { unreachable!("no sockets: {pair:?}") };
        let client = async {
            let mut ovsdb = Ovsdb::over(ours);
            let bridges = ovsdb.bridges().await;
            // Whatever it answers now, a bridge in the old form is still one.
            let _ = ovsdb.forget_ovn_remote().await;
            let _ = ovsdb.remove(&["br-ex".to_owned()]).await;
            bridges
        };
        let (mut requests, mut answers) = theirs.into_split();
        let server = async {
            // The client may be gone, which is its answer to what it cannot read.
            let _ = answers.write_all(input).await;
            let _ = answers.shutdown().await;
            drop(answers);
        };
        let reader = async {
            let mut all = Vec::new();
            let _ = requests.read_to_end(&mut all).await;
        };
        let (bridges, (), ()) = tokio::join!(client, server, reader);
        bridges
    });
    for bridge in bridges.into_iter().flatten() {
        comes_back(&bridge);
    }
}

/// The messages of a stream in pieces of this size, up to the first bytes that are none.
fn received(input: &[u8], size: usize) -> Vec<Option<Message>> {
    let (mut messages, mut found) = (Messages::default(), Vec::new());
    for piece in input.chunks(size) {
        messages.end().extend_from_slice(piece);
        while let Some(message) = messages.next() {
            found.push(message.ok());
            if matches!(found.last(), Some(None)) {
                return found;
            }
        }
    }
    found
}

/// The journal keeps a bridge, and a roll back inserts what it had.
fn comes_back(bridge: &Bridge) {
    let text = serde_json::to_string(bridge);
    let again = text.as_ref().map(|text| serde_json::from_str::<Bridge>(text));
    assert!(matches!(&again, Ok(Ok(again)) if again == bridge), "{bridge:?} is {text:?}");
    assert!(bridge.has_columns_of(bridge));
    assert!(!bridge.is_of_profiles() || bridge.foreign_ports().next().is_none(), "{bridge:?}");
    assert!(bridge.ofports().all(|(_, ofport)| ofport > 0), "{bridge:?}");
}
