//! The real program on a pseudo-terminal, with real keys.

#![cfg(unix)]

use std::io::{IsTerminal as _, Read as _, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtyPair, PtySize, native_pty_system};
use search::{App, generate, grouped, on_terminal};

#[allow(dead_code, reason = "its own main runs as a program of its own")]
#[path = "../src/bin/search.rs"]
mod search;

const SEARCH: &str = env!("CARGO_BIN_EXE_search");
const LINES: usize = 1_000_000;
/// The seed if none is given.
const SEED: u64 = 7;
/// A machine may be as slow as it likes; a program that hangs must end some time.
const PATIENCE: Duration = Duration::from_secs(120);

const ESCAPE: &str = "\x1b";
const CONTROL_C: &str = "\x03";
const BACKSPACE: &str = "\x7f";
const PAGE_DOWN: &str = "\x1b[6~";

/// A program on a terminal of 80 columns and 24 rows.
struct Session {
    terminal: PtyPair,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    program: Box<dyn Child + Send + Sync>,
    /// The terminal's settings before the program began.
    settings: String,
}

// Not the control flags: setting them again may spell out the speeds in these.
fn settings(terminal: &dyn MasterPty) -> String {
    let settings = terminal.get_termios().expect("a terminal has settings");
    format!(
        "{:?} {:?} {:?} {:?}",
        settings.input_flags, settings.output_flags, settings.local_flags, settings.control_chars
    )
}

impl Session {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let terminal = native_pty_system().openpty(size).unwrap();
        let settings = settings(&*terminal.master);
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        // It would push the message off the screen.
        command.env("RUST_BACKTRACE", "0");
        let program = terminal.slave.spawn_command(command).unwrap();
        let keyboard = terminal.master.take_writer().unwrap();
        let mut reader = terminal.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                // No frame is missed, however many come at once: each ends with `CSI ? 25 h`, which shows the cursor.
                for part in buffer[..length].split_inclusive(|byte| *byte == b'h') {
                    // Whoever listened may have gone.
                    let _ = sender.send(part.to_vec());
                }
            }
        });
        Session { terminal, keyboard, output, screen: vt100::Parser::default(), program, settings }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    fn rows(&self) -> Vec<String> {
        self.screen.screen().rows(0, 80).collect()
    }

    /// Waits until the screen is as wanted.
    fn wait_until(&mut self, what: &str, is_so: impl Fn(&[String]) -> bool) {
        let begin = Instant::now();
        while !is_so(&self.rows()) {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(error) => panic!("{what}: {error}; the screen:\n{}", self.rows().join("\n")),
            }
        }
    }

    /// Waits until all lines were searched for `query`, and the first matches from `top` on are shown.
    fn wait_for_matches(&mut self, query: &str, lines: &[(usize, &str)], top: usize) {
        let state = format!("{} of {} lines, in ", grouped(lines.len()), grouped(LINES));
        let shown: Vec<String> = lines[top..]
            .iter()
            .take(21)
            .map(|(number, line)| format!("{:>9}  {line}", grouped(*number)))
            .map(|row| row.chars().take(80).collect())
            .collect();
        self.wait_until(&format!("{query:?} from match {top} on"), |rows| {
            rows[0].trim_end() == format!("> {query}").trim_end()
                && rows[1].starts_with(&state)
                && rows[2..23].iter().zip(&shown).all(|(row, shown)| row.trim_end() == shown)
        });
    }

    /// Waits until the program has ended and all of its output was seen; returns its exit code. The terminal is as it was.
    fn end(mut self) -> (u32, String) {
        let status = self.program.wait().unwrap();
        let settings = settings(&*self.terminal.master);
        // Nobody holds the other side any more: the output ends.
        drop(self.terminal.slave);
        while let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
            self.screen.process(&bytes);
        }
        let screen = self.screen.screen();
        assert!(!screen.alternate_screen(), "it left its screen behind");
        assert!(!screen.hide_cursor(), "it left the cursor hidden");
        assert_eq!(settings, self.settings, "it left the terminal's settings changed");
        (status.exit_code(), screen.contents())
    }
}

/// The lines with all of the words, numbered from 1.
fn matches<'a>(text: &'a str, words: &[&str]) -> Vec<(usize, &'a str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered.filter(|(_, line)| words.iter().all(|word| line.contains(word))).collect()
}

#[test]
fn what_is_typed_is_found_while_it_is_typed() {
    let text = generate(LINES, SEED);
    let mut session = Session::start(SEARCH, &[]);
    session.wait_for_matches("", &matches(&text, &[]), 0);

    // A key is shown while the search for it runs.
    session.press("G");
    session.wait_until("the key", |rows| rows[0].trim_end() == "> G" && rows[1].contains("% searched"));
    // And the next ones come before it is done.
    session.press("R");
    session.press("a");
    let first = matches(&text, &["Grace"]);
    session.press("c");
    session.wait_for_matches("GRac", &first, 0);
    session.press("e merged");
    let second = matches(&text, &["Grace", "merged"]);
    assert!(second.len() < first.len());
    session.wait_for_matches("GRace merged", &second, 0);
    session.press(PAGE_DOWN);
    session.wait_for_matches("GRace merged", &second, 21);

    session.press(&BACKSPACE.repeat("e merged".len()));
    session.wait_for_matches("GRac", &first, 0);
    session.press(" no such line");
    session.wait_for_matches("GRac no such line", &[], 0);
    session.press(ESCAPE);
    assert_eq!(session.end().0, 0);
}

#[test]
fn each_key_cancels_the_search_before_it() {
    let mut app = App::new(generate(10, SEED));
    for key in ['a', 'b', 'c'] {
        app.set_query(|query| query.push(key));
    }
    assert_eq!(app.search.cancelled(), 3, "the search for nothing, for `a` and for `ab`");
    assert!(app.search.is_pending());
}

#[test]
fn control_c_quits_in_the_middle_of_a_search() {
    let mut session = Session::start(SEARCH, &[]);
    session.wait_until("the first screen", |rows| rows[1].contains("lines"));
    session.press("a");
    session.press(CONTROL_C);
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_signal_ends_it_and_leaves_the_terminal_in_order() {
    for signal in ["-TERM", "-HUP", "-INT"] {
        let mut session = Session::start(SEARCH, &[]);
        // In the middle of a search, while it draws all the time.
        session.wait_until("the first screen", |rows| rows[1].contains("lines"));
        let id = session.program.process_id().expect("it runs").to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_ne!(session.end().0, 0, "it did not end by {signal}");
    }
}

#[test]
fn a_file_is_searched_and_its_control_characters_do_no_harm() {
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/search.txt");
    std::fs::write(file, b"one\ttab\r\n\x1b[2Jtwo \xff\n\xc3\x84rger three").unwrap();
    let mut session = Session::start(SEARCH, &[file]);
    session.wait_until("all three lines", |rows| {
        rows[1].starts_with("3 of 3 lines, in")
            && rows[2].trim_end() == "1  one tab"
            && rows[3].trim_end() == "2   [2Jtwo"
            && rows[4].trim_end() == "3  \u{c4}rger three"
    });
    session.press("\u{e4}RG");
    session.wait_until("case is ignored", |rows| {
        rows[1].starts_with("1 of 3 lines, in") && rows[2].trim_end() == "3  \u{c4}rger three"
    });
    session.press(ESCAPE);
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let (code, screen) = Session::start(SEARCH, &["no/such/file"]).end();
    assert_eq!(code, 2);
    assert!(screen.starts_with("search: cannot read no/such/file: No such file"), "{screen}");
}

#[test]
fn without_a_terminal_it_says_so() {
    let output = Command::new(SEARCH).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("search: it needs a terminal"), "{message}");
}

// ---- panics ----

const IN_THE_PROGRAM: &str = "a_program_that_panics";
const IN_THE_SEARCH: &str = "a_search_that_panics";

#[test]
#[ignore = "it is run by the next one, on a terminal"]
fn a_program_that_panics() {
    if std::io::stdin().is_terminal() {
        on_terminal(|_| panic!("a fault in the program")).unwrap()
    }
}

#[test]
#[ignore = "it is run by the next one, on a terminal"]
fn a_search_that_panics() {
    if std::io::stdin().is_terminal() {
        let app = App::new("a line".to_owned());
        app.search.submit(async { panic!("a fault in the search") });
        let error = on_terminal(|terminal| app.run(terminal)).unwrap().unwrap_err();
        // As the program ends: a second panic would put the terminal in order once more, over the first one's message.
        eprintln!("search: {error}");
        std::process::exit(1);
    }
}

#[test]
fn a_panic_leaves_the_terminal_in_order_and_its_message_on_it() {
    let this = std::env::current_exe().unwrap();
    for (name, message) in
        [(IN_THE_PROGRAM, "a fault in the program"), (IN_THE_SEARCH, "a fault in the search")]
    {
        let arguments = ["--exact", name, "--ignored", "--nocapture"];
        let (code, screen) = Session::start(this.to_str().unwrap(), &arguments).end();
        assert_ne!(code, 0, "{screen}");
        assert!(screen.contains(message), "{screen}");
    }
}
