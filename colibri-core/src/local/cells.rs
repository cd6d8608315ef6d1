//! What a thread's state is made of: cells, since only this thread sees them.

use core::cell::Cell;

use crate::event::YieldReason;
use crate::rt::Site;

pub(crate) type U8 = Cell<u8>;
pub(crate) type U32 = Cell<u32>;
pub(crate) type U64 = Cell<u64>;
pub(crate) type I64 = Cell<i64>;
pub(crate) type Bool = Cell<bool>;
pub(crate) type Pointer = Cell<*const ()>;
pub(crate) type Reason = Cell<Option<YieldReason>>;
pub(crate) type Place = Cell<Option<&'static Site>>;
