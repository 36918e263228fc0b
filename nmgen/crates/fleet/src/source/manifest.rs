//! Reads a manifest key by key, and reports faults of its form.

use std::sync::Arc;

use nmgen_core::source::{Host, HostNetwork, MAC_SYNTAX, Nic, SIX_BYTES, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, Rule, Severity, rules};
use nmgen_document::mac::Mac;
use nmgen_document::size::{MAX_DOCUMENT_BYTES, document_size};
use nmgen_document::{Document, Entry, Node, Value, spelling, template};

use super::{dialect, embedded};

rules! {
    pub(super) error KEY_CASE = "key-case";
    pub(super) warning KEY_MISSPELT = "key-misspelt";
    pub(super) error KEY_MISPLACED = "key-misplaced";
    warning HOST_ROLE = "host-role";
    pub(super) error SOURCE_SHAPE = "source-shape";
    warning HOST_UNNAMED = "host-unnamed";
    warning KEY_WITHOUT_VALUE = "key-without-value";
    error MAC_FORM = "mac-form";
    pub(super) error NIC_MAP_MISSING = "nic-map-missing";
}

/// A name and its namespace, which may be missing: `kubectl apply -n` adds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

/// Bounds the messages of a file with a million faults.
const MAX_FAULTS: usize = 1_000;

/// The installer's roles of hosts (openshift/installer, `pkg/asset/agent/agentconfig`).
const ROLES: &[&str] = &["master", "arbiter", "worker"];

/// How the reader of an object decodes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Decoder {
    /// Go's `encoding/json` takes a key in any case, Kubernetes' decoders do not.
    pub(super) folds_case: bool,
    /// An unknown key is an error to it.
    pub(super) is_strict: bool,
}

/// A YAML document of a file, and its faults.
pub(super) struct Manifest<'a> {
    document: &'a Document<'a>,
    diagnostics: &'a mut Diagnostics,
    pub(super) decoder: Decoder,
}

impl<'a> Manifest<'a> {
    pub(super) fn new(document: &'a Document<'a>, diagnostics: &'a mut Diagnostics) -> Self {
        Self { document, diagnostics, decoder: Decoder::default() }
    }

    pub(super) fn document(&self) -> &'a Document<'a> {
        self.document
    }

    pub(super) fn place(&self, node: &Node<'_>) -> Place {
        self.document.place(node.span)
    }

    /// The place of a key, or of a mapping's first key.
    pub(super) fn key_place(&self, node: &Node<'_>, key: Option<&str>) -> Place {
        let entry = key.map_or_else(|| node.entries().first(), |key| node.entry(key));
        self.document.place(entry.map_or(node.span, |entry| entry.key_span))
    }

    pub(super) fn add(&mut self, rule: Rule, place: Place, message: impl Into<String>, help: &str) {
        self.push(Diagnostic::new(rule, message, place).help(help));
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if !is_full(self.diagnostics, &diagnostic.place.file) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// True if an error of the object is told.
    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    /// True if something is told of this place.
    pub(super) fn is_told(&self, place: &Place) -> bool {
        self.diagnostics.iter().any(|told| told.place == *place)
    }

    /// An unknown key; the remedy names the one that is meant.
    pub(super) fn unknown_key(&mut self, place: Place, key: &str, help: &str) {
        let severity = if self.decoder.is_strict { Severity::Error } else { KEY_MISSPELT.severity };
        let message = match self.decoder.is_strict {
            true => format!("\"{}\" is refused: unknown key", key.escape_debug()),
            false => format!("\"{}\" is ignored: unknown key", key.escape_debug()),
        };
        self.add(Rule { severity, ..KEY_MISSPELT }, place, message, help);
    }

    /// The value; on an error its faults are added instead.
    pub(super) fn tell(&mut self, found: Diagnostics) {
        self.diagnostics.extend(found);
    }

    pub(super) fn accept<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        result.map_err(|faults| faults.into_iter().for_each(|fault| self.push(fault))).ok()
    }

    /// The value under a key. Each key is read once: a key in another case is a fault, and used if
    /// the exact key is missing.
    pub(super) fn get<'n, 't>(&mut self, node: &'n Node<'t>, key: &str) -> Option<&'n Node<'t>> {
        self.report_key(node, key);
        position(node, key).map(|index| &node.entries()[index].node)
    }

    /// Like [`Self::get`], mutable.
    pub(super) fn get_mut<'n, 't>(
        &mut self,
        node: &'n mut Node<'t>,
        key: &str,
    ) -> Option<&'n mut Node<'t>> {
        self.report_key(node, key);
        value_mut(node, key)
    }

    /// Reports a key in another case or misspelt.
    fn report_key(&mut self, node: &Node<'_>, key: &str) {
        for entry in node.entries() {
            if entry.key.eq_ignore_ascii_case(key) && entry.key != key && !self.decoder.folds_case {
                let message = format!("\"{}\" should be \"{key}\"", entry.key);
                let help = "keys of Kubernetes' objects are case-sensitive";
                self.add(KEY_CASE, self.document.place(entry.key_span), message, help);
            }
        }
        if position(node, key).is_none()
            && let Some(entry) = node.entries().iter().find(|e| is_slip(&e.key, key))
        {
            self.unknown_key(self.document.place(entry.key_span), &entry.key, &meant(key));
        }
    }

    /// The place of the misspelt key that ends a chain of keys, and the remedy.
    pub(super) fn misspelt(&self, node: &Node<'_>, keys: &[&str]) -> Option<(Place, String)> {
        let (key, rest) = keys.split_first()?;
        if let Some(index) = position(node, key) {
            return self.misspelt(&node.entries()[index].node, rest);
        }
        let entry = node.entries().iter().find(|entry| is_slip(&entry.key, key))?;
        Some((self.document.place(entry.key_span), meant(key)))
    }

    /// The value at the end of a chain of keys.
    pub(super) fn at<'n, 't>(&mut self, node: &'n Node<'t>, keys: &[&str]) -> Option<&'n Node<'t>> {
        keys.iter().try_fold(node, |node, key| self.get(node, key))
    }

    /// The text under a key, and its node.
    pub(super) fn text<'n, 't>(
        &mut self,
        node: &'n Node<'t>,
        key: &str,
    ) -> Option<(&'n str, &'n Node<'t>)> {
        let owner = node;
        let node = self.get(owner, key)?;
        if let Some(fault) = dialect::of_text(node, || self.place(node)) {
            self.push(fault);
        }
        let text = node.text();
        if text.is_none() {
            self.shape(owner, node, key, "text");
        }
        text.map(|text| (text, node))
    }

    /// The document that is text under a key. What YAML makes of that text may be nothing, or one line.
    pub(super) fn document_text(
        &mut self,
        owner: &Node<'_>,
        key: &str,
    ) -> Option<Document<'static>> {
        let (text, node) = self.text(owner, key)?;
        if text.trim().is_empty() {
            let place = self.key_place(owner, Some(key));
            let message = format!("the text of {key} is empty: what follows is not indented");
            let help = "indent the lines of the text further than the key";
            self.add(SOURCE_SHAPE, place, message, help);
            return None;
        }
        let read = embedded::text(self.document, node, text);
        if read.is_err()
            && let Some(place) = embedded::folded(self.document, owner, key)
        {
            let message = "this text is folded (>): its lines become one";
            self.add(SOURCE_SHAPE, place, message, &format!("write \"{key}: |\""));
            return None;
        }
        self.accept(read)
    }

    /// The mapping under a key.
    pub(super) fn section<'n, 't>(
        &mut self,
        node: &'n Node<'t>,
        key: &str,
    ) -> Option<&'n Node<'t>> {
        let owner = node;
        let node = self.get(owner, key)?;
        let is_mapping = matches!(node.value, Value::Mapping(_));
        if !is_mapping {
            self.shape(owner, node, key, "a mapping");
        }
        is_mapping.then_some(node)
    }

    /// The text of a list's item; the list is under `key`.
    pub(super) fn item_text<'n>(&mut self, item: &'n Node<'_>, key: &str) -> Option<&'n str> {
        let text = item.text();
        // A list under the key of a single value is told by its reader.
        if text.is_none() && matches!(item.value, Value::Mapping(_)) {
            let message = format!("an item of {key} is a mapping, not text");
            self.push(Diagnostic::new(SOURCE_SHAPE, message, self.key_place(item, None)));
        }
        text
    }

    /// The items of a list under a key.
    pub(super) fn list<'n, 't>(&mut self, node: &'n Node<'t>, key: &str) -> &'n [Node<'t>] {
        let Some(list) = self.get(node, key) else { return &[] };
        self.verify_list(node, list, key);
        list.items()
    }

    /// Like [`Self::list`], mutable.
    pub(super) fn list_mut<'n, 't>(
        &mut self,
        node: &'n mut Node<'t>,
        key: &str,
    ) -> &'n mut [Node<'t>] {
        self.list(node, key);
        items_mut(node, &[key])
    }

    fn verify_list(&mut self, owner: &Node<'_>, node: &Node<'_>, key: &str) {
        if !matches!(node.value, Value::Sequence(_)) {
            self.shape(owner, node, key, "a list");
        }
    }

    /// The number under a key, and its node.
    pub(super) fn number<'n, 't>(
        &mut self,
        node: &'n Node<'t>,
        key: &str,
    ) -> Option<(u64, &'n Node<'t>)> {
        let node = self.get(node, key).filter(|node| !node.is_null())?;
        let number = node.number();
        if number.is_none() {
            let message = format!("{key} is not a number of 0 or more");
            self.push(Diagnostic::new(SOURCE_SHAPE, message, self.place(node)));
        }
        number.map(|number| (number, node))
    }

    fn shape(&mut self, owner: &Node<'_>, node: &Node<'_>, key: &str, wanted: &str) {
        let found = match node.value {
            Value::Scalar { .. } => "text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        };
        let mut items = node.items().iter();
        let is_document = node.get("interfaces").or_else(|| node.get("apiVersion")).is_some();
        let help = match (found, wanted) {
            ("a mapping", "text") if is_document => Some(format!("write \"{key}: |\"")),
            ("a list", "a mapping") if items.all(|item| !item.entries().is_empty()) => {
                Some("remove the \"- \"".to_owned())
            }
            ("a mapping", "a list") if key == "hosts" => Some(
                "write each of its keys as an item with its name: \"- hostname: ...\"".to_owned(),
            ),
            _ => None,
        };
        // A text that lacks its '|' is told at its key.
        let place = match wanted {
            "text" if is_document => self.key_place(owner, Some(key)),
            _ => self.key_place(node, None),
        };
        let message = format!("{key} is {found}, not {wanted}");
        let diagnostic = Diagnostic::new(SOURCE_SHAPE, message, place);
        self.push(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }

    /// A host with the name under a key.
    pub(super) fn host(&mut self, node: &Node<'_>, key: &str, stage: Stage) -> Host {
        let name = self.text(node, key);
        if name.is_none() && node.get(key).is_none() {
            let other = ["name", "hostname"].into_iter().find(|other| node.get(other).is_some());
            let help = match other {
                Some(other) => &*format!("the key is \"{key}\" here, not \"{other}\""),
                None => {
                    "without it the host has no file name, and other sources cannot refer to it"
                }
            };
            let place = self.key_place(node, None);
            self.add(HOST_UNNAMED, place, format!("this host has no {key}"), help);
        }
        let place = self.place(name.map_or(node, |(_, node)| node));
        let host = Host::new(name.map(|(name, _)| name.to_owned()), place);
        Host { stage, is_machine: stage == Stage::Early, ..host }
    }

    /// The name of a Kubernetes object, and its place.
    pub(super) fn metadata(&mut self, root: &Node<'_>) -> Option<(Name, Place)> {
        let metadata = self.get(root, "metadata");
        let (name, node) = metadata.and_then(|node| self.text(node, "name"))?;
        let namespace = metadata.and_then(|node| self.text(node, "namespace"));
        let namespace = namespace.map(|(name, _)| name.to_owned());
        Some((Name { namespace, name: name.to_owned() }, self.place(node)))
    }

    /// The host with the NMState document under a key, which is moved out of the manifest: see [`Self::network`].
    pub(super) fn with_network(&mut self, host: Host, owner: &mut Node<'_>, key: &str) -> Host {
        let is_mapping = owner.get(key).is_some_and(|node| !node.entries().is_empty());
        let is_misspelt = self.misspelt(owner, &[key]).is_some();
        let is_null = owner.entry(key).is_some_and(|entry| entry.node.is_null());
        let document = self.network(owner, key);
        let beside = self.beside(owner, key);
        if is_null && beside.is_empty() {
            self.verify_value(owner, key, "the host has no network without it");
        }
        let network = match document {
            None if beside.is_empty() && !is_misspelt && owner.get(key).is_none() => {
                HostNetwork::Missing
            }
            Some(mut document) if is_mapping => {
                // One fault is one message: the document is judged as it is meant.
                if let Value::Mapping(entries) = &mut document.root.value {
                    let is_new = |entry: &Entry<'_>| entries.iter().all(|own| own.key != entry.key);
                    let parts: Vec<_> = beside.into_iter().filter(is_new).collect();
                    entries.extend(parts);
                }
                HostNetwork::Written(document)
            }
            document => HostNetwork::read(document),
        };
        Host { network, ..host }
    }

    /// Reports a key without a value, which consumers read as if the key were not there.
    pub(super) fn verify_value(&mut self, owner: &Node<'_>, key: &str, help: &str) {
        if owner.entry(key).is_some_and(|entry| entry.node.is_null()) {
            let place = self.key_place(owner, Some(key));
            self.add(KEY_WITHOUT_VALUE, place, format!("{key} has no value"), help);
        }
    }

    /// Reports a host without a map of its cards, by which it is found.
    pub(super) fn verify_map(&mut self, owner: &Node<'_>, key: &str, help: &str) {
        let is_misspelt = self.misspelt(owner, &[key]).is_some();
        // Another shape is told by its reader.
        let is_empty =
            |list: &Node<'_>| matches!(&list.value, Value::Sequence(items) if items.is_empty());
        if !is_misspelt && owner.get(key).is_none_or(is_empty) {
            let at = owner.entry(key).map(|_| key);
            let message = format!("this host has no {key}: no machine is known to be it");
            self.add(NIC_MAP_MISSING, self.key_place(owner, at), message, help);
        }
    }

    /// Reports parts of the document beside the key: they are indented too little, and ignored.
    fn beside(&mut self, owner: &Node<'_>, key: &str) -> Vec<Entry<'static>> {
        // An agent-config and an NMStateConfig have their own `interfaces`.
        let is_map = |node: &Node<'_>| {
            let is_nic =
                |item: &Node<'_>| item.get("type").is_none() && item.get("state").is_none();
            node.items().iter().all(is_nic)
        };
        let is_part = |entry: &&Entry<'_>| match &*entry.key {
            "dns-resolver" | "route-rules" | "routes" => true,
            "interfaces" => !is_map(&entry.node),
            _ => false,
        };
        let parts: Vec<&Entry<'_>> = owner.entries().iter().filter(is_part).collect();
        if let Some(first) = parts.first() {
            let keys: Vec<&str> = parts.iter().map(|entry| &*entry.key).collect();
            let (are, them) = if keys.len() == 1 { ("is", "it") } else { ("are", "them") };
            let message = format!("{} {are} beside {key}, not in it", keys.join(" and "));
            let help = format!("indent {them} further, below the key");
            self.add(KEY_MISPLACED, self.document.place(first.key_span), message, &help);
        }
        let owned = |entry: &Entry<'_>| Entry {
            key: entry.key.to_string().into(),
            key_span: entry.key_span,
            node: entry.node.clone().into_owned(),
        };
        parts.into_iter().map(owned).collect()
    }

    /// The role of a host in an installation.
    pub(super) fn role(&mut self, node: &Node<'_>) -> Option<String> {
        let (role, at) = self.text(node, "role")?;
        if !ROLES.contains(&role) {
            let help = match ROLES.iter().find(|known| spelling::is_alike(role, known)) {
                Some(known) => format!("did you mean \"{known}\"?"),
                None => format!("it is one of {}", ROLES.join(", ")),
            };
            let message = format!("the installer knows no role \"{}\"", role.escape_debug());
            self.add(HOST_ROLE, self.place(at), message, &help);
        }
        Some(role.to_owned())
    }

    /// The NMState document under a key, as a mapping. It is moved out of the manifest: a fleet's documents exist once.
    pub(super) fn network(&mut self, owner: &mut Node<'_>, key: &str) -> Option<Document<'static>> {
        let node = self.get(owner, key)?;
        match &node.value {
            Value::Mapping(_) if size(node) > MAX_DOCUMENT_BYTES => {
                self.push(document_size(self.place(node)));
                None
            }
            Value::Mapping(_) => {
                if let Some(template) = template::in_part(node, self.document) {
                    self.push(template);
                    return None;
                }
                let mut node = value_mut(owner, key)?.take();
                dialect::resolve(&mut node, self.document)
                    .into_iter()
                    .for_each(|fault| self.push(fault));
                Some(self.document.part(node.into_owned()))
            }
            Value::Scalar { text, .. } => {
                let place = self.key_place(owner, Some(key));
                let message = format!("{key} is text, not a mapping");
                self.add(SOURCE_SHAPE, place, message, "remove the '|' behind the key");
                self.accept(embedded::text(self.document, node, text))
            }
            Value::Sequence(_) => {
                self.shape(owner, node, key, "a mapping");
                None
            }
        }
    }

    /// The network cards in a list.
    pub(super) fn nics(&mut self, node: &Node<'_>, key: &str) -> Vec<Nic> {
        self.nics_with(&["name", "macAddress"], node, key)
    }

    /// Like [`Self::nics`], where no document refers to a card by its name: one without a name is left out.
    pub(super) fn named_nics(&mut self, node: &Node<'_>, key: &str) -> Vec<Nic> {
        let mut nics = self.nics_with(&["macAddress"], node, key);
        nics.retain(|nic| nic.name.is_some());
        nics
    }

    fn nics_with(&mut self, wanted: &[&str], node: &Node<'_>, key: &str) -> Vec<Nic> {
        let items = self.list(node, key).iter();
        items
            .filter_map(|item| {
                for key in wanted {
                    if !item.entries().iter().any(|entry| entry.key.eq_ignore_ascii_case(key)) {
                        let place = self.key_place(item, None);
                        let help = "the MAC address identifies the NIC, which gets the name";
                        self.add(SOURCE_SHAPE, place, format!("this NIC has no {key}"), help);
                    }
                }
                let name = self.text(item, "name").map(|(name, _)| name.to_owned());
                self.nic(item, "macAddress", name)
            })
            .collect()
    }

    /// The network card with the MAC address under a key.
    pub(super) fn nic(&mut self, node: &Node<'_>, key: &str, name: Option<String>) -> Option<Nic> {
        let (text, node) = self.text(node, key)?;
        let place = self.place(node);
        let nic = self.accept(nic(text, name, place))?;
        if let Some(fault) = mac_form(text, &nic) {
            self.push(fault);
        }
        Some(nic)
    }
}

/// The index of a key's value: of the exact key, else of the key in another case.
fn position(node: &Node<'_>, key: &str) -> Option<usize> {
    let find = |is_it: &dyn Fn(&str) -> bool| {
        node.entries().iter().position(|entry| is_it(&entry.key) && !entry.node.is_null())
    };
    find(&|found| found == key).or_else(|| find(&|found| found.eq_ignore_ascii_case(key)))
}

/// The value that [`Manifest::get`] finds, without a report.
pub(super) fn value_mut<'n, 't>(node: &'n mut Node<'t>, key: &str) -> Option<&'n mut Node<'t>> {
    let index = position(node, key)?;
    match &mut node.value {
        Value::Mapping(entries) => entries.get_mut(index).map(|entry| &mut entry.node),
        Value::Scalar { .. } | Value::Sequence(_) => None,
    }
}

/// The items of the list at the end of a chain of keys, found as [`Manifest::get`] does, without a report.
pub(super) fn items_mut<'n, 't>(node: &'n mut Node<'t>, keys: &[&str]) -> &'n mut [Node<'t>] {
    match keys.iter().try_fold(node, |node, key| value_mut(node, key)) {
        Some(Node { value: Value::Sequence(items), .. }) => items,
        _ => &mut [],
    }
}

/// True at the limit of faults, where reading ends; that is reported.
pub(super) fn is_full(diagnostics: &mut Diagnostics, file: &Arc<str>) -> bool {
    let is_full = diagnostics.len() >= MAX_FAULTS;
    if diagnostics.len() == MAX_FAULTS {
        let message = format!("the rest is not read, after {MAX_FAULTS} faults");
        diagnostics.push(Diagnostic::new(SOURCE_SHAPE, message, Place::file(file.clone())));
    }
    is_full
}

/// A network card, if its MAC address is valid.
pub(super) fn nic(text: &str, name: Option<String>, place: Place) -> Result<Nic, Diagnostics> {
    match Mac::parse(text) {
        Some(mac_address) => Ok(Nic { name, mac_address, place }),
        None => {
            let message = format!("\"{}\" is not a MAC address", text.escape_debug());
            Err(Diagnostics::from(Diagnostic::new(MAC_SYNTAX, message, place).help(SIX_BYTES)))
        }
    }
}

/// The fault of a form of a MAC address that the patterns of assisted-service and metal3 refuse: they compare texts.
pub(super) fn mac_form(text: &str, nic: &Nic) -> Option<Diagnostic> {
    if text.split(':').all(|byte| byte.len() == 2) {
        return None;
    }
    let message =
        format!("\"{}\" is a form of a MAC address that no installer accepts", text.escape_debug());
    let help = format!("write {}", nic.mac_address);
    Some(Diagnostic::new(MAC_FORM, message, nic.place.clone()).help(help))
}

/// The approximate length as text.
fn size(node: &Node<'_>) -> usize {
    match &node.value {
        Value::Scalar { text, .. } => text.len() + 1,
        Value::Sequence(items) => items.iter().map(|item| size(item) + 2).sum(),
        Value::Mapping(entries) => {
            entries.iter().map(|entry| entry.key.len() + 2 + size(&entry.node)).sum()
        }
    }
}

/// The remedy for a misspelt key.
fn meant(key: &str) -> String {
    format!("did you mean \"{key}\"?")
}

/// True for a likely misspelling of `key`; a different case alone is reported elsewhere.
fn is_slip(found: &str, key: &str) -> bool {
    !found.eq_ignore_ascii_case(key) && spelling::is_alike(found, key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nmgen_document::text::Source;

    /// The value that `read` makes of a text, and the rules of the faults.
    fn read<T>(
        text: &str,
        read: impl FnOnce(&mut Manifest<'_>, &mut Node<'_>) -> T,
    ) -> (T, Vec<&'static str>) {
        let source = Source { name: "a.yaml".into(), text: text.into() };
        let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let mut diagnostics = Diagnostics::default();
        let mut manifest = Manifest::new(&document, &mut diagnostics);
        let value = read(&mut manifest, &mut document.root.clone());
        (value, diagnostics.iter().map(|fault| fault.rule.name).collect())
    }

    #[test]
    fn the_document_of_a_host_has_the_bound_of_a_file() {
        let network = |manifest: &mut Manifest<'_>, root: &mut Node<'_>| {
            manifest.network(root, "networkConfig").is_some()
        };
        for (size, expected) in [
            (MAX_DOCUMENT_BYTES, (true, vec![])),
            (MAX_DOCUMENT_BYTES + 1, (false, vec!["document-size"])),
        ] {
            let text = "a".repeat(size - "a: \n".len());
            assert_eq!(read(&format!("networkConfig: {{a: {text}}}\n"), network), expected);
        }
        for text in ["a: b\n", "a:\n- b\n- cd\n- ef\n", "ab:\n- c\nd: e\n"] {
            assert_eq!(read(text, |_, root| size(root)).0, text.len(), "{text}");
        }
    }

    #[test]
    fn the_faults_of_a_file_are_bounded() {
        let ((), told) = read("a: b\n", |manifest, root| {
            for _ in 0..MAX_FAULTS + 9 {
                manifest.add(KEY_CASE, manifest.place(root), "a fault", "");
            }
        });
        assert_eq!(told.len(), MAX_FAULTS + 1);
        assert_eq!(told.last(), Some(&"source-shape"));
    }

    #[test]
    fn interfaces_beside_a_document_are_a_map_of_cards_or_in_the_wrong_place() {
        let is_misplaced = |interfaces: &str| {
            let text = format!("interfaces: [{interfaces}]\nnetworkConfig: {{}}\n");
            read(&text, |manifest, root| !manifest.beside(root, "networkConfig").is_empty())
        };
        assert_eq!(is_misplaced("{name: a, macAddress: b}"), (false, vec![]));
        for interface in ["{name: a, type: ethernet}", "{name: a, state: up}"] {
            assert_eq!(is_misplaced(interface), (true, vec!["key-misplaced"]), "{interface}");
        }
    }
}
