//! Secrets, hidden in everything that is collected. `nmgen::secret` decides what one is; here are the forms of the record, of
//! properties of NetworkManager and of Open vSwitch's rows.

use std::path::Path;

use nmgen::secret::{self, HIDDEN, Secrets, is_key};
use serde_json::Value;

/// Hides secrets, and remembers those of files: a journal may quote them.
#[derive(Default)]
pub(crate) struct Redactor {
    known: Vec<Secrets>,
}

impl Redactor {
    pub(crate) fn file(&mut self, path: &Path, text: &str) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains("record.json") { self.record(text) } else { self.plain(text) }
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
                *place = self.plain(own).into();
            }
        }
        if shown == record { text.to_owned() } else { format!("{shown:#}\n") }
    }

    fn plain(&mut self, text: &str) -> String {
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
        let own = Secrets::of(text).hidden_in(text);
        self.known.iter().fold(own, |text, secrets| secrets.hidden(text))
    }

    /// A tree of values.
    pub(crate) fn value(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if is_key(key) && !is_public(key, value) {
                        hide(value);
                    } else if let Some(shown) = bytes(value).and_then(|text| shown(&text)) {
                        *value = serde_json::json!({"type": "s", "data": shown});
                    } else {
                        self.value(value);
                    }
                }
            }
            Value::Array(items) => match items.as_mut_slice() {
                // A pair of a map of Open vSwitch's.
                [Value::String(key), value @ Value::String(_)] if is_key(key) => hide(value),
                items => items.iter_mut().for_each(|item| self.value(item)),
            },
            Value::String(text) => {
                let shown = Secrets::default().hidden(std::mem::take(text));
                let shown = self.known.iter().fold(shown, |shown, own| own.hidden(shown));
                *text =
                    if text.contains('\n') { Secrets::of(&shown).hidden_in(&shown) } else { shown };
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn is_public(key: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => secret::is_public(key, text),
        // NMState's own field, or a property's bytes as NetworkManager has them.
        Value::Object(_) => {
            bytes(value).is_some_and(|text| secret::is_public(key, text.trim_end_matches('\0')))
        }
        // Flags, as a count of retries is one.
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) | Value::Array(_) => false,
    }
}

/// The bytes of a property as NetworkManager has them, as text.
fn bytes(value: &Value) -> Option<String> {
    let bytes = value.get("data")?.as_array().filter(|_| value.get("type").is_some())?;
    let bytes: Option<Vec<u8>> =
        bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The text without secrets, where it has some.
fn shown(text: &str) -> Option<String> {
    let shown = Secrets::default().hidden(text.to_owned());
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
