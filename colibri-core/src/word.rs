//! Outputs that are a number, a `bool`, a `char` or nothing: kept as a word in the task's own place, where others take an
//! allocation.

use core::any::Any;

macro_rules! words {
    ($($type:ty: $pack:expr, $unpack:expr;)*) => {
        /// The value as a word, if it is one of those.
        #[inline(always)]
        pub(crate) fn pack<T: 'static>(value: T) -> Result<u64, T> {
            // Known when this is compiled, as are the types below: nothing of it is left to be asked.
            if size_of::<T>() > size_of::<u64>() || core::mem::needs_drop::<T>() {
                return Err(value);
            }
            let any: &dyn Any = &value;
            $(if let Some(&value) = any.downcast_ref::<$type>() {
                let pack: fn($type) -> u64 = $pack;
                return Ok(pack(value));
            })*
            Err(value)
        }

        /// The value of type `T` that was packed.
        #[inline(always)]
        pub(crate) fn unpack<T: 'static>(word: u64) -> Option<T> {
            let mut value = None::<T>;
            let any: &mut dyn Any = &mut value;
            $(if let Some(value) = any.downcast_mut::<Option<$type>>() {
                let unpack: fn(u64) -> $type = $unpack;
                *value = Some(unpack(word));
            })*
            value
        }
    };
}

words! {
    (): |()| 0, |_| ();
    u64: |value| value, |word| word;
    i64: |value| value as u64, |word| word as i64;
    usize: |value| value as u64, |word| word as usize;
    isize: |value| value as u64, |word| word as isize;
    u32: u64::from, |word| word as u32;
    i32: |value| value as u64, |word| word as i32;
    u16: u64::from, |word| word as u16;
    i16: |value| value as u64, |word| word as i16;
    u8: u64::from, |word| word as u8;
    i8: |value| value as u64, |word| word as i8;
    bool: u64::from, |word| word != 0;
    char: u64::from, |word| char::from_u32(word as u32).unwrap_or_default();
    f64: f64::to_bits, f64::from_bits;
    f32: |value| u64::from(value.to_bits()), |word| f32::from_bits(word as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Copy + PartialEq + core::fmt::Debug + 'static>(values: &[T]) {
        for &value in values {
            let word = pack(value).expect("a word");
            assert_eq!(unpack::<T>(word), Some(value));
        }
    }

    #[test]
    fn words_come_back_as_they_were() {
        there_and_back(&[()]);
        there_and_back(&[0, 1, u64::MAX]);
        there_and_back(&[0, -1, i64::MIN, i64::MAX]);
        there_and_back(&[0, usize::MAX]);
        there_and_back(&[-1, isize::MIN]);
        there_and_back(&[0, u32::MAX]);
        there_and_back(&[-1, i32::MIN, i32::MAX]);
        there_and_back(&[u16::MAX]);
        there_and_back(&[-1_i16, i16::MIN]);
        there_and_back(&[u8::MAX]);
        there_and_back(&[-1_i8, i8::MIN]);
        there_and_back(&[true, false]);
        there_and_back(&['a', char::MAX]);
        there_and_back(&[0.1, -0.0, f64::INFINITY]);
        there_and_back(&[0.1_f32, f32::MIN]);
    }

    #[test]
    fn others_are_handed_back() {
        assert_eq!(pack([1_u8, 2]), Err([1, 2]));
        assert_eq!(pack("text"), Err("text"));
        assert_eq!(pack(Some(1_u32)), Err(Some(1)));
        assert_eq!(unpack::<&str>(0), None);
    }
}
