//! How much memory the process holds: what was asked of the allocator, to the byte, and what the system has mapped.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Memory at one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Asked for and not given back, in bytes.
    pub(crate) live: usize,
    /// Resident, in bytes, where the system tells.
    pub(crate) resident: Option<usize>,
}

impl Memory {
    pub(crate) fn now() -> Self {
        // First: what it takes to ask the system is not counted.
        let live = ALLOCATOR.allocated();
        Memory { live, resident: resident() }
    }

    /// The same less `bytes` that are in use for something else.
    pub(crate) fn without(self, bytes: usize) -> Self {
        Memory { live: self.live.saturating_sub(bytes), ..self }
    }
}

fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}
