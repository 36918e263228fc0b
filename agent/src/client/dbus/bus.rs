//! The connection to NetworkManager, and the errors of the bus.

use thiserror::Error;
use zbus::{
    DBusError as _,
    proxy::{Builder, CacheProperties},
    zvariant::ObjectPath,
};

use super::proxies::{ConnectionSettingsProxy, ManagerProxy};

pub(super) const NM: &str = "org.freedesktop.NetworkManager";

/// A failed operation of the bus or NetworkManager.
#[derive(Debug, Error)]
pub(crate) enum BusError {
    #[error("cannot connect to the system bus")]
    Connect { source: Box<zbus::Error> },
    #[error("cannot watch {name} on the bus")]
    Watch { name: &'static str, source: Box<zbus::Error> },
    #[error("NetworkManager does not run")]
    Absent,
    #[error("the bus closed the connection")]
    Closed,
    #[error("NetworkManager refused {operation}")]
    Call { operation: &'static str, source: Box<zbus::Error> },
    #[error("the profile {profile} did not become active: {reason}")]
    NotActive { profile: String, reason: &'static str },
    #[error("systemd does not say how {unit} is")]
    Unit { unit: &'static str, source: Box<zbus::Error> },
    #[error("systemd does not start {unit}")]
    Start { unit: &'static str, source: Box<zbus::Error> },
    #[error("the restart of {unit} ended as {result}")]
    Restart { unit: &'static str, result: String },
}

/// What a request on the bus comes to.
pub(crate) type Result<T = (), E = BusError> = std::result::Result<T, E>;

impl BusError {
    /// Whether NetworkManager went away during the call: a retry may reach the process that systemd
    /// starts next.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_one_of(&[
            "NoReply",
            "ServiceUnknown",
            "NameHasNoOwner",
            "Disconnected",
            "UnknownObject",
        ])
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        let Self::Call { source, .. } = self else { return false };
        let name = if let zbus::Error::MethodError(name, ..) = &**source {
            name.as_ref()
        } else if let zbus::Error::FDO(error) = &**source {
            // The refusal of a property.
            error.name()
        } else {
            return false;
        };
        names.iter().any(|error| name.strip_prefix("org.freedesktop.DBus.Error.") == Some(error))
    }
}

/// The answer of an object; `None` if it went away since NetworkManager named it.
pub(super) fn unless_gone<T>(answer: Result<T>) -> Result<Option<T>> {
    const UNKNOWN: [&str; 3] = ["UnknownObject", "UnknownMethod", "UnknownInterface"];
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_one_of(&UNKNOWN) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn call(operation: &'static str) -> impl Fn(zbus::Error) -> BusError + Copy {
    move |e| BusError::Call { operation, source: Box::new(e) }
}

pub(super) fn path_of(text: &str) -> Result<ObjectPath<'_>, zbus::Error> {
    ObjectPath::try_from(text).map_err(Into::into)
}

/// A proxy that asks the bus for each property again; without a path, of the interface's one object.
pub(super) async fn proxy<P>(connection: &zbus::Connection, path: Option<&str>) -> zbus::Result<P>
where
    P: zbus::proxy::Defaults + From<zbus::Proxy<'static>>,
{
    let builder = Builder::new(connection).cache_properties(CacheProperties::No);
    match path {
        Some(path) => builder.path(path.to_owned())?.build().await,
        None => builder.build().await,
    }
}

#[derive(Clone)]
pub(crate) struct Bus {
    pub(super) connection: zbus::Connection,
    pub(super) manager: ManagerProxy<'static>,
    pub(super) settings: ConnectionSettingsProxy<'static>,
}

impl Bus {
    /// Connects to the system bus; NetworkManager need not be there yet.
    pub(crate) async fn connect() -> Result<Self> {
        let connect = |e| BusError::Connect { source: Box::new(e) };
        Self::on(zbus::Connection::system().await.map_err(connect)?).await
    }

    pub(super) async fn on(connection: zbus::Connection) -> Result<Self> {
        let connect = |e| BusError::Connect { source: Box::new(e) };
        let manager = proxy(&connection, None).await.map_err(connect)?;
        let settings = proxy(&connection, None).await.map_err(connect)?;
        Ok(Self { connection, manager, settings })
    }
}

#[cfg(test)]
mod tests {
    use zbus::{Message, fdo, names::ErrorName};

    use super::{call, unless_gone};

    /// The refusal of a method, and of a property.
    fn refusals(name: &str) -> zbus::Result<[zbus::Error; 2]> {
        let name = format!("org.freedesktop.DBus.Error.{name}");
        let call = Message::method_call("/Devices/1", "Get")?.build(&())?;
        let answer = Message::error(&call.header(), name.as_str())?.build(&())?;
        let method = || {
            let name = ErrorName::try_from(name.as_str())?.to_owned();
            zbus::Result::Ok(zbus::Error::MethodError(name.into(), None, answer.clone()))
        };
        Ok([method()?, fdo::Error::from(method()?).into()])
    }

    #[test]
    fn an_object_that_went_away_is_no_refusal() -> zbus::Result<()> {
        for (name, is_unknown, is_gone) in [
            ("UnknownObject", true, true),
            // GLib's, for a path without an object.
            ("UnknownMethod", true, false),
            ("UnknownInterface", true, false),
            ("NoReply", false, true),
            ("AccessDenied", false, false),
        ] {
            for refusal in refusals(name)? {
                let error = call("a query")(refusal);
                assert_eq!(error.is_gone(), is_gone, "{error:?}");
                let text = format!("{error:?}");
                let answer = unless_gone::<()>(Err(error));
                assert_eq!(matches!(answer, Ok(None)), is_unknown, "{text}");
            }
        }
        assert!(matches!(unless_gone(Ok(7)), Ok(Some(7))));
        Ok(())
    }
}
