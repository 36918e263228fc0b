//! Messages in a stream of bytes: JSON objects that follow each other without a separator.

use serde_json::{Map, Value};

/// A message: a request, a notification or an answer.
pub(crate) type Message = Map<String, Value>;

/// A larger message is refused. A port with its interface has some 3 KiB in the answer to a query of all bridges, so that this
/// is the answer of a node with 5,000 ports.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Received bytes. Each is looked at once, and decoded with its whole message, however many pieces that comes in.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    received: Vec<u8>,
    /// The number of bytes looked at.
    seen: usize,
    /// Open objects and lists before the next byte.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl Messages {
    /// The end of the received bytes, with room for more.
    pub(crate) fn end(&mut self) -> &mut Vec<u8> {
        self.received.reserve(1 << 16);
        &mut self.received
    }

    /// The next message, once it is there as a whole.
    pub(crate) fn next(&mut self) -> Option<Result<Message, serde_json::Error>> {
        while let Some(byte) = self.received.get(self.seen) {
            self.seen += 1;
            if self.is_last(*byte) {
                let message = serde_json::from_slice(&self.received[..self.seen]);
                self.received.drain(..self.seen);
                self.seen = 0;
                return Some(message);
            }
        }
        None
    }

    /// Whether the bytes without a whole message are more than a message may have.
    pub(crate) fn is_too_large(&self) -> bool {
        self.received.len() > MAX_MESSAGE_BYTES
    }

    /// Whether this byte ends a message, or cannot be in any.
    fn is_last(&mut self, byte: u8) -> bool {
        if self.is_in_string {
            self.is_in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0 && !byte.is_ascii_whitespace()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_MESSAGE_BYTES, Messages};

    /// The messages of a stream that comes in pieces of this size, up to the first that is none.
    fn all(stream: &[u8], size: usize) -> (Vec<String>, bool) {
        let (mut messages, mut found) = (Messages::default(), Vec::new());
        for piece in stream.chunks(size) {
            messages.end().extend_from_slice(piece);
            while let Some(message) = messages.next() {
                match message {
                    Ok(message) => found.push(json!(message).to_string()),
                    Err(_) => return (found, false),
                }
            }
        }
        (found, true)
    }

    #[test]
    fn messages_are_the_same_in_pieces_of_any_size() {
        let sent = [
            json!({"a": "}{\"\\", "b": [{"c": []}, "\\\\\""], "é": null}),
            json!({}),
            json!({"id": 1, "result": [{"rows": [{}, {"x": ["map", [["k", "]"]]]}]}]}),
        ];
        let expected: Vec<String> = sent.iter().map(ToString::to_string).collect();
        for separator in ["", "\n", " \t"] {
            let stream = expected.join(separator);
            for size in 1..=stream.len() {
                assert_eq!(all(stream.as_bytes(), size), (expected.clone(), true), "{size}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_message_are_told_at_once() {
        let none: Vec<String> = Vec::new();
        for stream in ["[]", "1", "oops", "\"a", "}", "{]", "{\"a\": oops}", "\0"] {
            assert_eq!(all(stream.as_bytes(), 1), (none.clone(), false), "{stream}");
        }
        assert_eq!(all(b"{}]{}", 1), (vec!["{}".to_owned()], false));
        assert_eq!(all(b"{\"a\": [\"}", 1), (none, true));
    }

    #[test]
    fn a_message_has_a_bound() {
        let mut messages = Messages::default();
        messages.end().resize(MAX_MESSAGE_BYTES, b' ');
        assert!(messages.next().is_none() && !messages.is_too_large());
        messages.end().push(b'{');
        assert!(messages.next().is_none() && messages.is_too_large());
    }
}
