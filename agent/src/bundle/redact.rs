//! Secrets, hidden in everything that is collected. Which words are keys of secrets is decided in one place for all of the
//! project (`nmgen::secret`); here are the forms of NetworkManager's profiles and of Open vSwitch's rows.

use std::path::Path;

use nmgen::secret::{self, HIDDEN, Secrets};
use serde_json::Value;

use super::secret_forms;

/// Keys of profiles whose values are secrets and no document's (NetworkManager's `NM_SETTING_PARAM_SECRET`).
const PROFILE_KEYS: [&str; 7] =
    ["pin", "preshared-key", "wep-key0", "wep-key1", "wep-key2", "wep-key3", "leap-password"];

/// Keys of a private key, or of its path.
const PRIVATE_KEYS: [&str; 2] = ["private-key", "phase2-private-key"];

/// The section whose private key is never a path.
const WIREGUARD: &str = "wireguard";

/// The section that has nothing else.
const SECRETS: &str = "vpn-secrets";

/// Hides secrets, and remembers those of files: a journal may quote them.
#[derive(Default)]
pub(crate) struct Redactor {
    known: Vec<Secrets>,
}

impl Redactor {
    /// The text of a file.
    pub(crate) fn file(&mut self, path: &Path, text: &str) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match name.contains("record.json") {
            true => self.record(text),
            false => self.plain(path, text),
        }
    }

    /// The agent's record, whose documents are hidden as those of files are; all of a damaged one is.
    fn record(&mut self, text: &str) -> String {
        let Ok(record) = serde_json::from_str::<Value>(text) else {
            return format!("{HIDDEN}\n");
        };
        let mut shown = record.clone();
        self.value(&mut shown);
        for part in ["/committed/document/text", "/committed/resolved"] {
            if let (Some(Value::String(own)), Some(place)) =
                (record.pointer(part), shown.pointer_mut(part))
            {
                *place = self.plain(Path::new("document.yml"), own).into();
            }
        }
        if shown == record { text.to_owned() } else { format!("{shown:#}\n") }
    }

    fn plain(&mut self, path: &Path, text: &str) -> String {
        let text = &secret_forms::without(text);
        if is_keyfile(path, text) {
            return self.profile(text);
        }
        let secrets = Secrets::of(text);
        let hidden: Vec<String> =
            secrets.hidden_in(text).lines().map(|line| self.comment(line)).collect();
        if hidden.iter().map(String::as_str).eq(text.lines()) {
            return text.to_owned();
        }
        self.known.push(secrets);
        hidden.join("\n") + if text.ends_with('\n') { "\n" } else { "" }
    }

    /// A line of a document without the secrets in its comment, which no parser tells of.
    fn comment(&mut self, line: &str) -> String {
        let Some((before, comment)) = line.split_once('#') else { return line.to_owned() };
        let secrets = Secrets::of(comment);
        let hidden = secrets.hidden_in(comment);
        if hidden != comment {
            self.known.push(secrets);
        }
        format!("{before}#{hidden}")
    }

    /// A text that may quote files, such as a journal.
    pub(crate) fn text(&self, text: &str) -> String {
        let text = &secret_forms::without(text);
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
                    } else if let Some(shown) = bytes(value).and_then(|it| shown(&it)) {
                        *value = serde_json::json!({"type": "s", "data": shown});
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
                let shown = secret_forms::without(text);
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
                // A line that somebody took out still has the value.
                let key = key.trim_start_matches(['#', ';', ' ', '\t']).trim_end();
                let is_path = section != WIREGUARD && is_path(key, value.trim());
                let is_secret = is_key(key) && !is_path || section == SECRETS;
                is_secret && !key.ends_with("-flags")
            });
            match found {
                Some((key, value)) => {
                    values.push(value.trim().to_owned());
                    lines.push(format!("{key}={HIDDEN}"));
                }
                // A flag of a secret, or the path of a key.
                None if line.split_once('=').is_some_and(|(key, _)| is_key(key.trim())) => {
                    lines.push(line.to_owned());
                }
                // A unit's `Environment=PASSWORD=…`.
                None => {
                    let secrets = Secrets::of(line);
                    let hidden = secrets.hidden_in(line);
                    if hidden != line {
                        self.known.push(secrets);
                    }
                    lines.push(hidden);
                }
            }
        }
        if lines.iter().map(String::as_str).eq(text.lines()) {
            return text.to_owned();
        }
        self.known.push(Secrets::of_values(values.iter().map(String::as_str)));
        lines.join("\n") + "\n"
    }
}

/// Whether this is keyfile(5) or NetworkManager.conf(5): by its directory or name, else by what it begins with, as the agent's
/// copies of profiles do.
fn is_keyfile(path: &Path, text: &str) -> bool {
    let is_of_manager = path.components().any(|it| it.as_os_str() == "NetworkManager");
    let is_section = |line: &str| line.starts_with('[') && line.ends_with(']');
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with(['#', ';']);
    is_of_manager
        || path.extension().is_some_and(|it| it == "nmconnection")
        || text.lines().map(str::trim).find(is_said).is_some_and(is_section)
}

fn is_key(key: &str) -> bool {
    secret::is_key(key) || PRIVATE_KEYS.contains(&key) || PROFILE_KEYS.contains(&key)
}

/// Whether this is the path of a private key, and not the key. One key of WireGuard in 64 begins with `/`.
fn is_path(key: &str, value: &str) -> bool {
    PRIVATE_KEYS.contains(&key)
        && (value.starts_with('/') || value.starts_with("file://"))
        && !is_key_of_wireguard(value)
}

/// 32 bytes in base64.
fn is_key_of_wireguard(value: &str) -> bool {
    let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    value.strip_suffix('=').is_some_and(|it| it.len() == 43 && it.chars().all(is_of_it))
}

fn is_place(key: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => is_path(key, text),
        // NMState's own field, or a property's bytes as NetworkManager has them.
        Value::Object(_) => bytes(value).is_some_and(|it| is_path(key, it.trim_end_matches('\0'))),
        // Flags, as a count of retries is one.
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) | Value::Array(_) => false,
    }
}

/// The bytes of a property as NetworkManager has them, as text.
fn bytes(value: &Value) -> Option<String> {
    let bytes = value.get("data")?.as_array().filter(|_| value.get("type").is_some())?;
    let bytes: Option<Vec<u8>> = bytes.iter().map(|it| u8::try_from(it.as_u64()?).ok()).collect();
    bytes.map(|it| String::from_utf8_lossy(&it).into_owned())
}

/// The text without secrets, where it has some.
fn shown(text: &str) -> Option<String> {
    let shown = secret_forms::without(text);
    (shown != text).then(|| shown.trim_end_matches('\0').to_owned())
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
        let shown = redactor.file(Path::new("a"), &profile.replace("MARK", MARK));
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
        let shown = redactor.file(Path::new("a.yml"), &document.replace("MARK2", "an0therm4rker"));
        assert_eq!(shown, document.replace("MARK2", HIDDEN));
        let line = "netroot=iscsi:u:MARK:v:MA/RK@192.0.2.1::3260::iqn.a proxy=http://u:MARK@p:1 ip=a:b@c root=http://h/a:b@c";
        let hidden = "netroot=iscsi:u:<hidden>@192.0.2.1::3260::iqn.a proxy=http://u:<hidden>@p:1 ip=a:b@c root=http://h/a:b@c";
        assert_eq!(redactor.file(Path::new("cmdline"), &line.replace("MARK", MARK)), hidden);
        assert_eq!(redactor.text(line), hidden);
        let untouched = "interfaces:\r\n- name: eno1\r\n";
        assert_eq!(redactor.file(Path::new("a.yml"), untouched), untouched);
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

    #[test]
    fn the_documents_in_the_record_have_no_secrets() {
        let path = Path::new("/var/lib/dayone/record.json");
        let document = "interfaces:\n- name: eno1\n  802.1x: {password: MARK}\n# psk: MARK\n";
        let document = document.replace("MARK", MARK);
        let shown = Redactor::default().file(Path::new("/etc/nmstate/openshift/a.yml"), &document);
        let record = serde_json::json!({
            "committed": {"document": {"text": document, "mode": 0o600}, "resolved": document},
            "failures": null,
        });
        let text = format!("{record:#}\n");
        let hidden = Redactor::default().file(path, &text);
        assert!(!hidden.contains(MARK), "{hidden}");
        let read: Value = serde_json::from_str(&hidden).expect("JSON");
        // Whoever compares them finds the same text.
        assert_eq!(read["committed"]["document"]["text"], shown);
        assert_eq!(read["committed"]["resolved"], shown);
        // What a disk has damaged, and what is staged.
        for name in ["record.json.damaged", ".record.json.dayone"] {
            let hidden =
                Redactor::default().file(&path.with_file_name(name), &text[..text.len() / 2]);
            assert_eq!(hidden, "<hidden>\n");
        }
        let plain = "{\n  \"committed\": null\n}\n";
        assert_eq!(Redactor::default().file(path, plain), plain);
    }

    /// Forms in which a secret stood in the clear, each with a place where it may stand.
    #[test]
    fn secrets_in_odd_forms_are_hidden() {
        let profile = "/etc/NetworkManager/system-connections/a.nmconnection";
        let key = format!("/Hm0c{}=", "A".repeat(38));
        for (path, text) in [
            (profile, "[connection]\nid=a\n[802-1x]\n#password=MARK\n; psk = MARK\n".to_owned()),
            (profile, "[802-1x]\nprivate-key=data:;base64,MARK\n".to_owned()),
            (
                "/var/lib/dayone/transaction/files/0/a",
                "# x\n[802-1x]\nprivate-key=data:;base64,MARK\n".to_owned(),
            ),
            (profile, "[802-1x]\nclient-cert=pkcs11:object=a?pin-value=MARK\n".to_owned()),
            (profile, "[wireguard]\nprivate-key=/MARK\n".to_owned()),
            (
                "/etc/nmstate/a.yml",
                "interfaces: []\n# - {name: a, 802.1x: {password: MARK}}\n".to_owned(),
            ),
            ("/etc/nmstate/a.yml", "interfaces: []  # psk: MARK\n".to_owned()),
            (
                "/etc/systemd/system/dayone.service.d/a.conf",
                "[Service]\nEnvironment=DB_PASSWORD=MARK\n".to_owned(),
            ),
            ("/proc/cmdline", "a ignition.config.url=https://h/?token=MARK b\n".to_owned()),
            (profile, format!("[x]\nprivate-key={key}\n")),
        ] {
            let shown = Redactor::default().file(Path::new(path), &text.replace("MARK", MARK));
            let is_hidden =
                shown.contains(HIDDEN) && !shown.contains(MARK) && !shown.contains(&key);
            assert!(is_hidden, "{path}: {shown}");
        }
        let cert = |text: &str| serde_json::json!({"type": "ay", "data": text.as_bytes()});
        let mut value = serde_json::json!({
            "client-cert": cert(&format!("pkcs11:a?pin-value={MARK}\0")), "ca-cert": cert("file:///etc/ca\0"),
            "private-key": cert("file:///etc/key\0"), "wireguard": {"private-key": key},
        });
        Redactor::default().value(&mut value);
        let expected = serde_json::json!({
            "client-cert": {"type": "s", "data": "pkcs11:a?pin-value=<hidden>"}, "ca-cert": cert("file:///etc/ca\0"),
            "private-key": cert("file:///etc/key\0"), "wireguard": {"private-key": HIDDEN},
        });
        assert_eq!(value, expected);
    }
}
