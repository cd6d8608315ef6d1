//! A key-value store behind HTTP, on one thread: point queries are answered beside a running compaction.
//!
//! The store is a few sorted runs, the newest wins. A compaction merges them into one, and checks every entry on its way.
//! Connections are Immediate tasks, the compaction is an Idle one, and tokio has the thread after each slice. A client
//! of its own thread asks every 2 ms while the compaction runs, first with the compaction holding the thread,
//! as any plain function does, then with colibri.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use colibri_core::{Priority, Scheduler, checkpoint, cooperative, spawn, uninterrupted};
use colibri_tokio::Drive as _;
use hdrhistogram::Histogram;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// How long the compaction may hold the thread: a query waits for one slice at most, and we want a millisecond.
const SLICE: Duration = Duration::from_micros(500);
/// A query is due so often, whether or not the one before was answered.
const PACE: Duration = Duration::from_millis(2);
/// The oldest is run 0.
const RUNS: u64 = 8;
/// Each run holds about every third key, each its own.
const KEYS_PER_ENTRY: u64 = 3;

// ---- the store ----

#[derive(Clone)]
struct Entry {
    key: u64,
    checksum: u32,
    value: [u8; 52],
}

type Run = Rc<Vec<Entry>>;

impl Entry {
    fn new(key: u64, run: u64) -> Self {
        let mut value = [b' '; 52];
        let text = text(key, run);
        value[..text.len()].copy_from_slice(text.as_bytes());
        Entry { key, checksum: checksum(&value), value }
    }
}

fn text(key: u64, run: u64) -> String {
    format!("key {key}, as run {run} has it")
}

fn is_in_run(key: u64, run: u64) -> bool {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(8 * run as u32) >> 16).is_multiple_of(KEYS_PER_ENTRY)
}

/// CRC-32, a bit at a time.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// Merges sorted runs into one; the newest entry of a key stays.
#[cooperative]
fn compact(runs: &[Run]) -> Vec<Entry> {
    let mut heads = vec![0; runs.len()];
    let mut merged: Vec<Entry> = Vec::with_capacity(runs.iter().map(|run| run.len()).sum());
    loop {
        let mut next: Option<&Entry> = None;
        for (run, head) in runs.iter().zip(&heads) {
            if let Some(entry) = run.get(*head)
                && next.is_none_or(|next| entry.key <= next.key)
            {
                next = Some(entry);
            }
        }
        let Some(next) = next else { return merged };
        for (run, head) in runs.iter().zip(&mut heads) {
            if run.get(*head).is_some_and(|entry| entry.key == next.key) {
                *head += 1;
            }
        }
        assert_eq!(checksum(&next.value), next.checksum, "the entry of key {} is damaged", next.key);
        merged.push(next.clone());
    }
}

// ---- the server ----

/// Whether the compaction gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It holds the thread to its end.
    Held,
    /// It is a task like others.
    Colibri,
}

/// What the server has in memory, and how far its compaction is.
struct Store {
    way: Way,
    runs: RefCell<Vec<Run>>,
    compaction: Cell<&'static str>,
}

impl Store {
    fn new(way: Way, keys: u64) -> Rc<Self> {
        let run =
            |run| (0..keys).filter(|key| is_in_run(*key, run)).map(|key| Entry::new(key, run)).collect();
        let runs = (0..RUNS).map(run).map(Rc::new).collect();
        Rc::new(Store { way, runs: RefCell::new(runs), compaction: Cell::new("none") })
    }

    fn find(&self, key: u64) -> Option<String> {
        let runs = self.runs.borrow();
        let entry = runs.iter().rev().find_map(|run| {
            let place = run.binary_search_by_key(&key, |entry| entry.key).ok()?;
            run.get(place)
        })?;
        Some(String::from_utf8_lossy(&entry.value).trim_end().to_owned())
    }

    fn start_compaction(self: &Rc<Self>) {
        self.compaction.set("queued");
        let store = Rc::clone(self);
        let work = async move {
            store.compaction.set("running");
            let runs = store.runs.borrow().clone();
            let merged = compact(&runs).await;
            store.runs.replace(vec![Rc::new(merged)]);
            // To free all of them at once would take longer than a slice.
            for run in runs {
                drop(run);
                checkpoint().await;
            }
            store.compaction.set("done");
        };
        // A handle that is dropped leaves its task alone.
        drop(match self.way {
            Way::Held => spawn(Priority::Idle, uninterrupted(work)),
            Way::Colibri => spawn(Priority::Idle, work),
        });
    }

    /// `GET /<key>` answers with the value, `POST /compact` starts a compaction.
    fn answer(self: &Rc<Self>, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let path = &request.uri().path()[1..];
        let (status, body) = match (request.method(), path, path.parse()) {
            (&Method::POST, "compact", _) => {
                self.start_compaction();
                (StatusCode::ACCEPTED, "started".to_owned())
            }
            (&Method::GET, _, Ok(key)) => match self.find(key) {
                Some(value) => (StatusCode::OK, value),
                None => (StatusCode::NOT_FOUND, format!("there is no key {key}")),
            },
            _ => (StatusCode::BAD_REQUEST, "ask for GET /<a number> or POST /compact".to_owned()),
        };
        let response = Response::builder().status(status).header("compaction", self.compaction.get());
        response.body(Full::from(body)).expect("all of its parts are valid")
    }
}

async fn accept(listener: TcpListener, scheduler: &Scheduler, store: Rc<Store>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let store = Rc::clone(&store);
        let service = service_fn(move |request| {
            let response = store.answer(&request);
            async move { Ok::<_, Infallible>(response) }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        drop(scheduler.spawn(Priority::Immediate, async move {
            if let Err(error) = connection.await {
                eprintln!("a connection broke: {error}");
            }
        }));
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Serves on this thread until it is told to stop. Returns how many slices the scheduler had.
fn serve(listener: TcpListener, store: Rc<Store>, stop: oneshot::Receiver<()>) -> io::Result<u64> {
    let scheduler = Scheduler::builder().slice(SLICE).build();
    runtime()?.block_on(async {
        tokio::select! {
            () = scheduler.drive() => {}
            failed = accept(listener, &scheduler, store) => return failed,
            _ = stop => {}
        }
        Ok(())
    })?;
    Ok(scheduler.stats().slices)
}

// ---- the client ----

/// What a client saw.
pub(crate) struct Measured {
    /// From when a query was due until its answer was there, in µs.
    pub(crate) waits: Histogram<u64>,
    /// Answers that came before the compaction was done.
    pub(crate) while_running: u64,
    /// Slices of the server's scheduler.
    pub(crate) slices: u64,
}

async fn query(address: SocketAddr, keys: u64) -> Result<Measured, Box<dyn std::error::Error>> {
    let stream = tokio::net::TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let mut measured = Measured { waits: Histogram::new(3)?, while_running: 0, slices: 0 };

    let start = Request::post("/compact").header("host", "store").body(Empty::<Bytes>::new())?;
    let response = sender.send_request(start).await?;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    response.into_body().collect().await?;

    let mut due = Instant::now();
    let mut done: Option<Instant> = None;
    // Queries that were due while the compaction ran all count, also those that it kept from being sent.
    while done.is_none_or(|done| due < done) {
        due += PACE;
        // Nothing else is to be done on this thread, and tokio's timers are as coarse as the pace.
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let key = measured.waits.len() * 7919 % keys;
        let request = Request::get(format!("/{key}")).header("host", "store").body(Empty::new())?;
        let response = sender.send_request(request).await?;
        let compaction = response.headers()["compaction"].clone();
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        measured.waits.record(due.elapsed().as_micros() as u64)?;

        match (0..RUNS).rev().find(|run| is_in_run(key, *run)) {
            Some(run) => assert_eq!((status, &body[..]), (StatusCode::OK, text(key, run).as_bytes())),
            None => assert_eq!(status, StatusCode::NOT_FOUND),
        }
        measured.while_running += u64::from(compaction == "running");
        if compaction == "done" {
            done = done.or(Some(Instant::now()));
        }
    }
    drop(sender);
    connection.await??;
    Ok(measured)
}

/// Starts a server on a thread of its own, asks it while it compacts, and stops it.
pub(crate) fn measure(way: Way, megabytes: u64) -> Result<Measured, Box<dyn std::error::Error>> {
    let keys = (megabytes << 20) / size_of::<Entry>() as u64 * KEYS_PER_ENTRY / RUNS;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel();
    let server = thread::spawn(move || serve(listener, Store::new(way, keys), stopped));
    let mut measured = runtime()?.block_on(query(address, keys))?;
    // If it ended before, it has an error to tell.
    let _ = stop.send(());
    measured.slices = server.join().expect("a panic of the server was told")?;
    Ok(measured)
}

/// Answers point queries over HTTP beside a running compaction, on one thread, and tells how long they waited.
#[derive(Debug, Parser)]
#[command(
    name = "server",
    after_help = "Exit codes: 0 measured; 1 the server or the client failed; 2 wrong use."
)]
struct Options {
    /// How much the store holds before its compaction, MB.
    #[arg(long, value_name = "MB", default_value_t = 128, value_parser = clap::value_parser!(u64).range(1..=4096))]
    megabytes: u64,
}

pub(crate) fn print(way: Way, measured: &Measured) {
    let at = |quantile| Duration::from_micros(measured.waits.value_at_quantile(quantile));
    let name = match way {
        Way::Held => "without yields",
        Way::Colibri => "colibri",
    };
    println!(
        "{name:<15} {:>7} queries, {:>5} answered meanwhile   p50 {:>8.1?}  p99 {:>8.1?}  max {:>8.1?}   {} slices",
        measured.waits.len(),
        measured.while_running,
        at(0.5),
        at(0.99),
        at(1.0),
        measured.slices,
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    println!(
        "A query each {PACE:?} while {} MB are compacted on the server's only thread:",
        options.megabytes
    );
    for way in [Way::Held, Way::Colibri] {
        print(way, &measure(way, options.megabytes)?);
    }
    Ok(())
}
