//! Secrets, hidden in everything that is collected. Which words are keys of secrets is decided in one place for all of the
//! project (`nmgen::secret`); here are the forms of NetworkManager's profiles and of Open vSwitch's rows.

use nmgen::secret::{self, HIDDEN, Secrets};
use serde_json::Value;

/// Keys of profiles whose values are secrets and no document's (NetworkManager's `NM_SETTING_PARAM_SECRET`).
const PROFILE_KEYS: [&str; 7] =
    ["pin", "preshared-key", "wep-key0", "wep-key1", "wep-key2", "wep-key3", "leap-password"];

/// Keys of a private key, or of its path.
const PRIVATE_KEYS: [&str; 2] = ["private-key", "phase2-private-key"];

/// The section that has nothing else.
const SECRETS: &str = "vpn-secrets";

/// Hides secrets, and remembers those of files: a journal may quote them.
#[derive(Default)]
pub(crate) struct Redactor {
    known: Vec<Secrets>,
}

impl Redactor {
    /// The text of a file.
    pub(crate) fn file(&mut self, text: &str) -> String {
        let text = &without_credentials(text);
        if is_profile(text) {
            return self.profile(text);
        }
        let secrets = Secrets::of(text);
        let hidden = secrets.hidden_in(text);
        if hidden.lines().eq(text.lines()) {
            return text.to_owned();
        }
        self.known.push(secrets);
        hidden
    }

    /// A text that may quote files, such as a journal.
    pub(crate) fn text(&self, text: &str) -> String {
        let text = &without_credentials(text);
        let own = Secrets::of(text).hidden_in(text);
        self.known.iter().fold(own, |text, secrets| secrets.hidden(text))
    }

    /// A tree of values.
    pub(crate) fn value(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if is_key(key) && !is_place(key, value) || key == SECRETS {
                        hide(value);
                    } else {
                        self.value(value);
                    }
                }
            }
            Value::Array(items) => match items.as_mut_slice() {
                // A pair of a map of Open vSwitch's.
                [Value::String(key), value @ Value::String(_)] if is_key(key) => hide(value),
                items => items.iter_mut().for_each(|it| self.value(it)),
            },
            Value::String(text) => {
                let shown = without_credentials(text);
                let shown = self.known.iter().fold(shown, |it, own| own.hidden(it));
                *text =
                    if text.contains('\n') { Secrets::of(&shown).hidden_in(&shown) } else { shown };
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// keyfile(5).
    fn profile(&mut self, text: &str) -> String {
        let (mut section, mut values, mut lines) = (String::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            if let Some(name) = line.trim().strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                name.clone_into(&mut section);
            }
            let found = line.split_once('=').filter(|(key, value)| {
                let key = key.trim();
                let is_secret = is_key(key) && !is_path(key, value.trim()) || section == SECRETS;
                is_secret && !key.starts_with('#') && !key.ends_with("-flags")
            });
            match found {
                Some((key, value)) => {
                    values.push(value.trim().to_owned());
                    lines.push(format!("{key}={HIDDEN}"));
                }
                None => lines.push(line.to_owned()),
            }
        }
        if values.is_empty() {
            return text.to_owned();
        }
        self.known.push(Secrets::of_values(values.iter().map(String::as_str)));
        lines.join("\n") + "\n"
    }
}

fn is_profile(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[connection]")
}

fn is_key(key: &str) -> bool {
    secret::is_key(key) || PRIVATE_KEYS.contains(&key) || PROFILE_KEYS.contains(&key)
}

/// Hides passwords of addresses: `https://user:password@host`, and dracut.cmdline(7)'s `netroot=iscsi:user:password@host`.
fn without_credentials(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    let of_urls = hidden_behind(text, "://", |c| is_end(c) || c == '/');
    hidden_behind(&of_urls, "iscsi:", is_end)
}

/// The text with [`HIDDEN`] between the first colon and the last `@` behind each mark, up to an end.
fn hidden_behind(text: &str, mark: &str, is_end: impl Fn(char) -> bool) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(mark) {
        let (before, behind) = rest.split_at(at + mark.len());
        let (address, next) = behind.split_at(behind.find(&is_end).unwrap_or(behind.len()));
        shown.push_str(before);
        let parts = address.rsplit_once('@');
        match parts.and_then(|(who, host)| Some((who.split_once(':')?.0, host))) {
            Some((user, host)) => shown.extend([user, ":", HIDDEN, "@", host]),
            None => shown.push_str(address),
        }
        rest = next;
    }
    shown + rest
}

/// Whether this is the path of a private key, and not the key.
fn is_path(key: &str, value: &str) -> bool {
    PRIVATE_KEYS.contains(&key) && (value.starts_with('/') || value.starts_with("file://"))
}

fn is_place(key: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => is_path(key, text),
        // NMState's own field, or a property's bytes as NetworkManager has them.
        Value::Object(_) => value["data"].as_array().is_some_and(|bytes| {
            let start: Vec<u8> =
                bytes.iter().take(7).filter_map(|it| u8::try_from(it.as_u64()?).ok()).collect();
            is_path(key, &String::from_utf8_lossy(&start))
        }),
        // Flags, as a count of retries is one.
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) | Value::Array(_) => false,
    }
}

/// A value of a profile keeps its form: a type, and the data.
fn hide(value: &mut Value) {
    *value = match value.get("type").is_some() && value.get("data").is_some() {
        true => serde_json::json!({"type": "s", "data": HIDDEN}),
        false => HIDDEN.into(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "s3cretmarker0123";

    #[test]
    fn secrets_of_every_form_are_hidden_and_the_rest_stays() {
        let mut redactor = Redactor::default();
        let profile = "[connection]\nid=eno1\n\n[802-1x]\nprivate-key=/etc/k.pem\nprivate-key-password=MARK\n\
                       password-flags=0\n\n[wireguard]\nprivate-key=MARK\n\n[vpn-secrets]\nany=MARK\n\n[wifi-security]\n\
                       wep-key0=MARK\n[802-1x]\nphase2-private-key=data:;base64,MARK\n[proxy]\npac-url=http://u:MARK@h/\n";
        let shown = redactor.file(&profile.replace("MARK", MARK));
        assert!(!shown.contains(MARK), "{shown}");
        for stays in ["id=eno1", "private-key=/etc/k.pem", "password-flags=0", "[wireguard]"] {
            assert!(shown.contains(stays), "{stays} in {shown}");
        }
        assert_eq!(
            redactor.text(&format!("level=debug said {MARK}!")),
            "level=debug said <hidden>!"
        );
        let document =
            "interfaces:\n- name: eno1\n  802.1x: {identity: a, private-key-password: MARK2}\n";
        let shown = redactor.file(&document.replace("MARK2", "an0therm4rker"));
        assert_eq!(shown, document.replace("MARK2", HIDDEN));
        let line = "netroot=iscsi:u:MARK:v:MA/RK@192.0.2.1::3260::iqn.a proxy=http://u:MARK@p:1 ip=a:b@c root=http://h/a:b@c";
        let hidden = "netroot=iscsi:u:<hidden>@192.0.2.1::3260::iqn.a proxy=http://u:<hidden>@p:1 ip=a:b@c root=http://h/a:b@c";
        assert_eq!(redactor.file(&line.replace("MARK", MARK)), hidden);
        assert_eq!(redactor.text(line), hidden);
        let untouched = "interfaces:\r\n- name: eno1\r\n";
        assert_eq!(redactor.file(untouched), untouched);
        let mut value = serde_json::json!({
            "settings": {"802-1x": {
                "password": {"type": "s", "data": MARK}, "private-key": {"type": "ay", "data": [1, 2]},
            }},
            "macsec": {"mka-cak": MARK, "mka-ckn": "x"},
            "row": {"options": ["map", [["psk", MARK], ["remote_ip", "192.0.2.1"]]]},
            "text": format!("why: {MARK}"),
        });
        redactor.value(&mut value);
        let expected = serde_json::json!({
            "settings": {"802-1x": {
                "password": {"type": "s", "data": HIDDEN}, "private-key": {"type": "s", "data": HIDDEN},
            }},
            "macsec": {"mka-cak": HIDDEN, "mka-ckn": "x"},
            "row": {"options": ["map", [["psk", HIDDEN], ["remote_ip", "192.0.2.1"]]]},
            "text": "why: <hidden>",
        });
        assert_eq!(value, expected);
    }
}
