//! A browser without a screen, told what to do over DevTools' protocol: messages in JSON, each ended by a zero byte, over
//! two pipes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Debian's package has this name too.
const PROGRAM: &str = "chromium-headless-shell";

/// The descriptors that the browser reads and writes are 3 and 4.
const START: &str = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>&2"#;

/// One page in a browser of its own.
pub(crate) struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    session: Value,
    /// Events that came before an answer.
    events: VecDeque<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it with an empty page, whose requests are recorded from the first on.
    pub(crate) fn start() -> Self {
        tests::skip::unless_installed(PROGRAM, PROGRAM);
        let profile = tempfile::tempdir().unwrap();
        let mut process = Command::new("timeout")
            // However the test ends.
            .args(["--kill-after=5", "300", "sh", "-c", START, "sh", PROGRAM])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
            ])
            .args(["--remote-debugging-pipe", "--window-size=1200,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut browser = Self {
            process,
            input,
            output,
            last: 0,
            session: Value::Null,
            events: VecDeque::new(),
            _profile: profile,
        };
        let targets = browser.call("Target.getTargets", &json!({}));
        let is_page = |target: &&Value| target["type"] == "page";
        let target = targets["targetInfos"].as_array().unwrap().iter().find(is_page).unwrap();
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", &target)["sessionId"].take();
        for domain in ["Page", "Network", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file, and waits until it and its script are done.
    pub(crate) fn open(&mut self, file: &Path) {
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        self.wait_event("Page.loadEventFired");
    }

    /// The value of an expression on the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Presses the left button of the mouse in the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const it = document.querySelector({}); it.scrollIntoView({{ block: 'center' }}); \
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                &json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 }),
            );
        }
    }

    /// Presses a key of the keyboard: a letter, or one with a name.
    pub(crate) fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            _ => 0,
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        for kind in [down, "keyUp"] {
            let text = if kind == "keyUp" { "" } else { text };
            self.call(
                "Input.dispatchKeyEvent",
                &json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code }),
            );
        }
        self.next_frame();
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
        self.next_frame();
    }

    /// The page searches before it is drawn the next time.
    fn next_frame(&mut self) {
        let frame =
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
        self.value(frame);
    }

    /// A reader's setting of the system: `light`, `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// Gives the window this width and height.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        self.next_frame();
    }

    pub(crate) fn disable_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    }

    /// The picture of the window, in base64 of a PNG.
    pub(crate) fn screenshot(&mut self) -> String {
        let taken = self.call("Page.captureScreenshot", &json!({}));
        taken["data"].as_str().unwrap().to_owned()
    }

    /// The addresses of all requests since the page was opened, and all that the browser refused or complained of.
    pub(crate) fn requests_and_complaints(&mut self) -> (Vec<String>, Vec<Value>) {
        // Events before this answer are there then.
        self.value("1");
        let (mut requests, mut complaints) = (Vec::new(), Vec::new());
        for event in &self.events {
            match event["method"].as_str() {
                Some("Network.requestWillBeSent") => {
                    let url = event["params"]["request"]["url"].as_str();
                    requests.push(url.unwrap_or_default().to_owned());
                }
                Some("Log.entryAdded" | "Runtime.exceptionThrown" | "Runtime.consoleAPICalled") => {
                    complaints.push(event.clone());
                }
                _ => {}
            }
        }
        (requests, complaints)
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.input.flush().unwrap();
        loop {
            let mut answer = self.read();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.events.push_back(answer);
        }
    }

    fn wait_event(&mut self, name: &str) {
        while !self.events.iter().any(|event| event["method"] == name) {
            let event = self.read();
            self.events.push_back(event);
        }
    }

    /// The browser ends after its time, and then there is nothing to read.
    fn read(&mut self) -> Value {
        let mut message = Vec::new();
        self.output.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&message).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // One that has ended reads nothing.
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.input.flush();
        // `timeout` ends it if it does not listen.
        let _ = self.process.wait();
    }
}
