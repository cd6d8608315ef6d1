//! colibri in the browser.
#![cfg_attr(not(feature = "host"), no_std)]

pub mod turns;
