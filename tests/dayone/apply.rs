//! A document in the field's shape, put in force at boot.

use tests::{
    dayone::{ADDRESS, DAY_ONE, Document, HOST_FILE, MAC, SOON, outcome, worker},
    lab::{Error, Lab, Peer},
};

#[test]
fn static_bridge_from_a_host_file() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    let node = worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &Document::new().text(), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let outcome = outcome(&inside, None)?;
        assert_eq!(outcome.exit, 0, "{}", outcome.text());
        println!("{}", case.report());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        Ok(())
    })
}
