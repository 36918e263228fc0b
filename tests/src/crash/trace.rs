//! A command under strace, together with a process that works for it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    Fault,
    calls::{self, Call},
};

/// Calls that change files or make changes durable, and those that are needed to follow them.
const CALLS: &str = "trace=execve,open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,lseek,ftruncate,truncate,\
                     fallocate,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,\
                     mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,fsync,fdatasync,sync,syncfs,\
                     copy_file_range,sendfile,splice,dup,dup2,dup3";

/// A command that waits to begin, and strace on it and on other processes.
#[derive(Debug)]
pub struct Trace {
    strace: Child,
    command: Child,
    output: tempfile::NamedTempFile,
}

impl Trace {
    /// Attaches to `others` and to `command`, which waits for [`Self::finish`].
    ///
    /// # Errors
    /// If strace cannot attach.
    pub fn attach(command: &Command, others: &[u32]) -> Result<Self, Fault> {
        let run = |program: &str, source| Fault::Run { program: program.to_owned(), source };
        let mut waiting = Command::new("sh");
        waiting.args(["-c", "read -r _ && exec \"$@\"", "sh"]);
        waiting.arg(command.get_program()).args(command.get_args());
        // The command's own environment alone.
        waiting.env_clear();
        for (name, value) in command.get_envs() {
            waiting.env(name, value.unwrap_or_default());
        }
        waiting.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut command = waiting.spawn().map_err(|source| run("sh", source))?;
        let output = tempfile::NamedTempFile::new()
            .map_err(|source| Fault::File { path: std::env::temp_dir(), source })?;
        let mut strace = Command::new("strace");
        strace.args(["-f", "-xx", "-y", "-s", "16777216", "-e", CALLS, "-e", "signal=none", "-o"]);
        strace.arg(output.path()).arg("-p").arg(command.id().to_string());
        for process in others {
            strace.arg("-p").arg(process.to_string());
        }
        let strace = strace.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut strace = match strace {
            Ok(strace) => strace,
            Err(source) => {
                let _ = command.kill().and_then(|()| command.wait());
                return Err(run("strace", source));
            }
        };
        let said = strace.stderr.take();
        let mut trace = Self { strace, command, output };
        let mut left = others.len() + 1;
        let mut last = String::new();
        if let Some(said) = said {
            let mut lines = BufReader::new(said);
            while left > 0 {
                last.clear();
                match lines.read_line(&mut last) {
                    Ok(0) | Err(_) => break,
                    Ok(_) if last.contains(" attached") => left -= 1,
                    Ok(_) => {}
                }
            }
            // strace must not meet a closed pipe.
            std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        }
        if left > 0 {
            trace.end();
            return Err(Fault::Attach(last));
        }
        Ok(trace)
    }

    /// Lets the command run to its end. Returns its exit code and all calls since its begin.
    ///
    /// # Errors
    /// If its end or the trace cannot be read.
    pub fn finish(mut self) -> Result<(Option<i32>, Vec<Call>), Fault> {
        let run = |source| Fault::Run { program: "sh".to_owned(), source };
        let begin = self.command.id();
        if let Some(mut stdin) = self.command.stdin.take() {
            stdin.write_all(b"\n").map_err(run)?;
        }
        let status = self.command.wait().map_err(run)?;
        self.end();
        let text = read(self.output.path())?;
        let calls = calls::parse(&text)?.into_iter();
        // Earlier calls are the others' own affair.
        let calls =
            calls.skip_while(|call| call.name != "execve" || call.thread != begin).collect();
        Ok((status.code(), calls))
    }

    /// Detaches strace, and ends the command if it has not ended.
    fn end(&mut self) {
        if let Ok(strace) = i32::try_from(self.strace.id()) {
            let _ = kill(Pid::from_raw(strace), Signal::SIGINT);
        }
        let _ = self.strace.wait();
        let _ = self.command.kill();
        let _ = self.command.wait();
    }
}

fn read(path: &Path) -> Result<String, Fault> {
    std::fs::read_to_string(path).map_err(|source| Fault::File { path: path.to_owned(), source })
}
