//! How a command ended.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    /// The exit code, or 128 plus the signal, as a shell reports it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Checks that the command ended with this code and printed nothing.
    #[track_caller]
    pub fn silent(self, code: i32) -> Run {
        assert_eq!((self.code, self.stderr.as_str()), (code, ""), "stdout: {:?}", self.stdout.get(..80));
        self
    }

    /// Checks that the command ended with this code and printed this in one of its lines.
    #[track_caller]
    pub fn says(self, code: i32, text: &str) -> Run {
        assert!(self.code == code && self.stderr.contains(text), "expected {code} and {text:?}, got {self:#?}");
        self
    }

    /// Checks that the command ended with this code and printed this and nothing else.
    #[track_caller]
    pub fn ends(self, code: i32, text: &str) -> Run {
        assert_eq!((self.code, &*self.stderr), (code, text));
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
        Run {
            code: code.expect("a code or a signal"),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
