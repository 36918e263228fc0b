//! Name servers as `resolv.conf` and documents write them.

use std::{fmt, net::IpAddr, str::FromStr};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NameServer {
    pub(crate) ip: IpAddr,
    /// The interface of a link-local address, by name or by number (RFC 4007).
    pub(crate) scope: Option<String>,
}

impl FromStr for NameServer {
    type Err = std::net::AddrParseError;

    /// Parses `192.0.2.1` or `fe80::1%eno1`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (ip, scope) =
            text.split_once('%').map_or((text, None), |(ip, scope)| (ip, Some(scope.to_owned())));
        Ok(Self { ip: ip.parse()?, scope })
    }
}

impl fmt::Display for NameServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ip)?;
        self.scope.as_ref().map_or(Ok(()), |scope| write!(f, "%{scope}"))
    }
}
