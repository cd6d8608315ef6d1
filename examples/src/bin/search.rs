//! Search-as-you-type over a million lines, in a terminal, on one thread.
//!
//! Each key cancels the search before it. The search is an ordinary loop over all lines; the scheduler cuts it into slices of
//! 4 ms, and between two of them the program looks at the keyboard and draws what was found so far.

use std::cell::RefCell;
use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(unix)]
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use colibri_core::{Activity, Latest, Priority, Scheduler, cooperative};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::is_raw_mode_enabled;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};
use ratatui::{DefaultTerminal, Frame};

// ---- the search ----

/// What a search has found so far.
#[derive(Default)]
struct Found {
    /// Number, from 1, and first byte of each line with a match.
    lines: Vec<(usize, usize)>,
    searched: usize,
    /// How long it took, once it is complete.
    took: Option<Duration>,
}

/// Finds the lines that hold all of `words`, which are in lower case. A line is searched in one go.
#[cooperative]
fn search(text: &str, words: &[String], found: &RefCell<Found>) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let folded = line.to_lowercase();
        let mut found = found.borrow_mut();
        found.searched += 1;
        if words.iter().all(|word| folded.contains(word)) {
            let number = found.searched;
            found.lines.push((number, start));
        }
        start += line.len();
    }
}

// ---- the program ----

/// What the screen shows.
pub(crate) struct App {
    text: Rc<String>,
    lines: usize,
    scheduler: Scheduler,
    pub(crate) search: Latest,
    query: String,
    found: Rc<RefCell<Found>>,
    /// The first match on the screen.
    top: usize,
    /// The longest time between two looks at the keyboard.
    away: Duration,
}

impl App {
    pub(crate) fn new(text: String) -> Self {
        let scheduler = Scheduler::new();
        scheduler.set_activity(Activity::Interacting);
        let app = App {
            lines: text.lines().count(),
            text: Rc::new(text),
            search: Latest::new(&scheduler, Priority::Normal),
            scheduler,
            query: String::new(),
            found: Rc::default(),
            top: 0,
            away: Duration::ZERO,
        };
        app.submit();
        app
    }

    fn words(&self) -> Vec<String> {
        self.query.split_whitespace().map(str::to_lowercase).collect()
    }

    /// Starts the search for what is typed now. The one before is cancelled, and what it held is dropped.
    fn submit(&self) {
        let (text, words, found) = (Rc::clone(&self.text), self.words(), Rc::clone(&self.found));
        self.search.submit(async move {
            let begin = Instant::now();
            search(&text, &words, &found).await;
            found.borrow_mut().took = Some(begin.elapsed());
        });
    }

    pub(crate) fn set_query(&mut self, edit: impl FnOnce(&mut String)) {
        edit(&mut self.query);
        (self.found, self.top) = (Rc::default(), 0);
        self.submit();
    }

    /// Runs until the user quits.
    pub(crate) fn run(mut self, terminal: &mut DefaultTerminal) -> Result<(), Box<dyn Error>> {
        let mut looked = Instant::now();
        loop {
            let mut page = 0;
            {
                let _drawing = screen();
                terminal.draw(|frame| page = self.draw(frame))?;
            }
            self.away = self.away.max(looked.elapsed());
            // With nothing to search, sleep until a key comes.
            if !self.search.is_pending() || event::poll(Duration::ZERO)? {
                // Keys that came together are taken together.
                loop {
                    match event::read()? {
                        Event::Key(key) if is_quit(key) => return Ok(()),
                        Event::Key(key) if key.kind != KeyEventKind::Release => self.press(key, page),
                        _ => {}
                    }
                    if !event::poll(Duration::ZERO)? {
                        break;
                    }
                }
            }
            looked = Instant::now();
            self.scheduler.run_slice();
            // A panic of a task stays in its task.
            if !self.search.is_pending() && self.found.borrow().took.is_none() {
                return Err("the search panicked".into());
            }
        }
    }

    fn press(&mut self, key: KeyEvent, page: usize) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if is_control => self.set_query(String::clear),
            KeyCode::Char(character) if !is_control => self.set_query(|query| query.push(character)),
            KeyCode::Backspace if !self.query.is_empty() => {
                self.set_query(|query| {
                    query.pop();
                });
            }
            KeyCode::Down => self.top += 1,
            KeyCode::Up => self.top = self.top.saturating_sub(1),
            KeyCode::PageDown => self.top += page,
            KeyCode::PageUp => self.top = self.top.saturating_sub(page),
            KeyCode::Home => self.top = 0,
            KeyCode::End => self.top = usize::MAX,
            _ => {}
        }
        self.top = self.top.min(self.found.borrow().lines.len().saturating_sub(page));
    }

    /// Draws, and returns how many matches there is room for.
    fn draw(&self, frame: &mut Frame<'_>) -> usize {
        const PROMPT: &str = "> ";
        let rows = [Constraint::Length(1), Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)];
        let [query, state, matches, help] = Layout::vertical(rows).areas(frame.area());

        // The end of a query that is too long, and the cursor behind it.
        let mut shown = self.query.as_str();
        let width = |text: &str| PROMPT.len() + Span::raw(text).width();
        while width(shown) >= usize::from(query.width) && !shown.is_empty() {
            shown = &shown[shown.chars().next().map_or(0, char::len_utf8)..];
        }
        frame.render_widget(Line::from_iter([PROMPT.cyan().bold(), shown.bold()]), query);
        frame.set_cursor_position((query.x + width(shown) as u16, query.y));

        let found = self.found.borrow();
        let (hits, all) = (grouped(found.lines.len()), grouped(self.lines));
        let text = match found.took {
            Some(took) => format!("{hits} of {all} lines, in {} ms", took.as_millis()),
            None => format!("{hits} of {all} lines, {} % searched", found.searched * 100 / self.lines.max(1)),
        };
        frame.render_widget(Line::from(text).dim(), state);

        let words = self.words();
        let digits = all.len();
        for (row, (number, start)) in matches.rows().zip(found.lines.iter().skip(self.top)) {
            let line = self.text[*start..].lines().next().unwrap_or_default();
            // What has no room need not be looked at.
            let end = line.char_indices().nth(usize::from(row.width)).map_or(line.len(), |(end, _)| end);
            let mut spans = vec![format!("{:>digits$}  ", grouped(*number)).dim()];
            spans.extend(marked(&line[..end], &words));
            frame.render_widget(Line::from(spans), row);
        }

        let keys = Line::from("Esc quits  Ctrl-U clears  ↑ ↓ PgUp PgDn scroll").dim();
        let away = Line::from(format!("keys waited {:.1} ms at most", self.away.as_secs_f64() * 1e3)).dim();
        frame.render_widget(keys, help);
        if help.width >= 80 {
            frame.render_widget(away.right_aligned(), help);
        }
        usize::from(matches.height)
    }
}

fn is_quit(key: KeyEvent) -> bool {
    key.code == KeyCode::Esc
        || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// The line, with each of `words` marked.
fn marked<'a>(line: &'a str, words: &[String]) -> Vec<Span<'a>> {
    let mut spans = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(character) = line[at..].chars().next() {
        let longest = words.iter().filter_map(|word| prefix(&line[at..], word)).max();
        if let Some(length) = longest {
            spans.extend([Span::raw(&line[plain..at]), line[at..at + length].yellow().bold().underlined()]);
            at += length;
            plain = at;
        } else {
            at += character.len_utf8();
        }
    }
    spans.push(Span::raw(&line[plain..]));
    spans
}

/// How many bytes of `text` are `word`, whatever their case, if it begins with it.
fn prefix(text: &str, word: &str) -> Option<usize> {
    let mut wanted = word.chars().peekable();
    for (at, character) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        if !character.to_lowercase().all(|lower| wanted.next() == Some(lower)) {
            return None;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

/// A number with a comma at each thousand.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

// ---- what is searched, and where ----

/// Lines of a log that never was, the same for the same seed.
pub(crate) fn generate(lines: usize, seed: u64) -> String {
    const WHO: [&str; 8] = ["cache", "index", "ledger", "mailer", "parser", "router", "search", "worker"];
    const DID: [&str; 8] = ["closed", "copied", "dropped", "merged", "opened", "read", "sorted", "wrote"];
    const WHAT: [&str; 8] =
        ["a batch", "a block", "a file", "a page", "a queue", "a record", "a socket", "a table"];
    const FOR: [&str; 8] = ["Ada", "Alan", "Barbara", "Donald", "Edsger", "Grace", "John", "Niklaus"];
    let mut state = seed;
    let mut text = String::new();
    for line in 0..lines {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = |from: u32| (state >> from) as usize;
        let (minute, second, ms) = (line / 60_000 % 60, line / 1000 % 60, line % 1000);
        text.push_str(&format!(
            "12:{minute:02}:{second:02}.{ms:03} {}-{} {} {} for {} in {} us\n",
            WHO[pick(20) % 8],
            pick(24) % 100,
            DID[pick(32) % 8],
            WHAT[pick(36) % 8],
            FOR[pick(40) % 8],
            pick(44) % 10_000,
        ));
    }
    text
}

/// Whoever draws has it; who ends the program keeps it.
fn screen() -> MutexGuard<'static, ()> {
    static SCREEN: Mutex<()> = Mutex::new(());
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal that ends the program first has the terminal put back in order.
#[cfg(unix)]
fn restore_at_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _drawing = screen();
            // The terminal may be gone; the signal ends the program all the same.
            let _ = ratatui::try_restore();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Runs a program on the terminal, which is put back in order at the end, at a panic, and when a signal ends it.
pub(crate) fn on_terminal<T>(program: impl FnOnce(&mut DefaultTerminal) -> T) -> io::Result<T> {
    #[cfg(unix)]
    restore_at_signals()?;
    let mut terminal = ratatui::try_init()?;
    let result = program(&mut terminal);
    // After a panic of a task it is in order already, and has the message: do not jump back before it.
    if is_raw_mode_enabled()? {
        ratatui::try_restore()?;
    }
    Ok(result)
}

/// Searches lines while you type, on one thread. A line is found if it holds all of the words, whatever their case.
#[derive(Debug, Parser)]
#[command(
    name = "search",
    after_help = "\
Exit codes: 0 you quit; 1 the terminal or the search failed; 2 wrong use, no terminal, or a file that cannot be read.
A signal that ends it (INT, TERM, HUP, QUIT) leaves the terminal in order.
NO_COLOR=1 turns colours off."
)]
struct Options {
    /// The file whose lines are searched; without one, lines are made up.
    file: Option<PathBuf>,
    /// How many lines to make up.
    #[arg(long, default_value_t = 1_000_000, conflicts_with = "file")]
    lines: usize,
    /// Other numbers make up other lines.
    #[arg(long, default_value_t = 7, conflicts_with = "file")]
    seed: u64,
}

impl Options {
    fn text(&self) -> Result<String, String> {
        let Some(path) = &self.file else { return Ok(generate(self.lines, self.seed)) };
        let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        // A tab or an escape sequence would move what is drawn.
        Ok(String::from_utf8_lossy(&bytes).replace(|c: char| c.is_control() && c != '\n', " "))
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        eprintln!(
            "search: it needs a terminal, for its keys and its screen: run it without a pipe or a redirection"
        );
        return ExitCode::from(2);
    }
    let text = match options.text() {
        Ok(text) => text,
        Err(message) => {
            eprintln!("search: {message}");
            return ExitCode::from(2);
        }
    };
    match on_terminal(|terminal| App::new(text).run(terminal)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("search: {error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("search: the terminal cannot be used: {error}");
            ExitCode::FAILURE
        }
    }
}
