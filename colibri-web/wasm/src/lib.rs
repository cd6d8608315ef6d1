//! What the package for JavaScript calls: four functions around one [`Turns`]. The names are one letter each, since each byte counts.
//!
//! Everything that decides is safe code in colibri-web, and is tested there. What is unsafe here is what a module without
//! wasm-bindgen (8 KB, four times the whole package) cannot be made without:
//!
//! - an export has a name of its own, which must be no other symbol's (`unsafe(no_mangle)`): there are four, and no other code;
//! - a static is shared by all threads, and cells must not be: a module of wasm32 without shared memory has one thread;
//! - `alloc` asks for an allocator at link time, though nothing here allocates.

#![no_std]
#![allow(unsafe_code, reason = "see above: exports, one static, an allocator that refuses")]

use core::alloc::{GlobalAlloc, Layout};

use colibri_web::turns::Turns;

/// As many tasks as there is room for: 2.6 MB of memory that is not touched before it is used. `MOST_TASKS` in the package.
const MOST_TASKS: usize = 131_072;

struct Alone<T>(T);

// SAFETY: without the target feature `atomics` no second thread can share this module's memory.
#[cfg(not(target_feature = "atomics"))]
unsafe impl<T> Sync for Alone<T> {}

static TURNS: Alone<Turns<MOST_TASKS>> = Alone(Turns::new());

/// See [`Turns::put`].
// SAFETY: no other symbol is called so; the same holds for those below.
#[unsafe(no_mangle)]
pub extern "C" fn a(reading: u32, task: u32, class: u32) {
    TURNS.0.put(reading, task, class);
}

/// See [`Turns::check`].
#[unsafe(no_mangle)]
pub extern "C" fn b(reading: u32) -> bool {
    TURNS.0.check(reading)
}

/// See [`Turns::next`].
#[unsafe(no_mangle)]
pub extern "C" fn c(reading: u32, length: u32, blocked: u32) -> u32 {
    TURNS.0.next(reading, length, blocked)
}

/// See [`Turns::count`].
#[unsafe(no_mangle)]
pub extern "C" fn d(place: u32) -> u32 {
    TURNS.0.count(place)
}

/// Nothing allocates. What did would be told that there is no memory.
struct Refusing;

// SAFETY: to say that there is no memory is always allowed; nothing was handed out that could come back.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
