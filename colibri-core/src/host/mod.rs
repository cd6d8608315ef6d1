//! Hosts: who owns the thread and gives the scheduler its turns.

mod thread;
