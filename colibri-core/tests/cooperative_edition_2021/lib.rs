//! Empty: only the tests count.
