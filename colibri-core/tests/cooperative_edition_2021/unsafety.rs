//! Unsafe code, which the workspace forbids itself.

#[path = "../cooperative_support/mod.rs"]
mod cooperative_support;

use cooperative_support::same;

both! {
    fn blocks(n: u32) -> u32 {
        let mut sum = 0;
        unsafe {
            let pointer = std::ptr::addr_of_mut!(sum);
            for i in 0..n { *pointer += i; }
        }
        for i in unsafe { std::mem::transmute::<[i32; 3], [u32; 3]>([1, 2, 3]) } { sum += i; }
        while unsafe { *std::ptr::addr_of!(sum) } < 50 { sum += 3; }
        sum
    }
}

#[colibri_core::cooperative]
unsafe fn dangerous(pointer: *const u32, n: usize) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        sum += *pointer.add(i);
    }
    sum
}

#[colibri_core::cooperative]
unsafe fn recursive(n: u32) -> u32 {
    if n == 0 { 0 } else { unsafe { recursive(n - 1) + 1 } }
}

#[test]
fn unsafe_code() {
    same(|| plain::blocks(5), || stopping::blocks(5));
    let data = [1, 2, 3];
    same(|| 6, || unsafe { dangerous(data.as_ptr(), 3) });
    same(|| 4, || unsafe { recursive(4) });
}
