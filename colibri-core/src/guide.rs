//! The guide: pages of the documentation. Their text lies in `guide/`.
//!
#![doc = include_str!("../guide/mod.md")]

macro_rules! pages {
    ($($name:ident: $file:literal;)*) => {
        $(
            #[doc = include_str!($file)]
            pub mod $name {}
        )*
    };
}

pages! {
    own_thread: "../guide/own_thread.md";
    frame_loop: "../guide/frame_loop.md";
    runtimes: "../guide/runtimes.md";
    firmware: "../guide/firmware.md";
    browser: "../guide/browser.md";
    stalls: "../guide/stalls.md";
    figures: "../guide/figures.md";
    troubles: "../guide/troubles.md";
    comparison: "../guide/comparison.md";
}
