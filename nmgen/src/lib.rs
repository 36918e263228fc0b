//! From an NMState document to safe NetworkManager connection profiles.
