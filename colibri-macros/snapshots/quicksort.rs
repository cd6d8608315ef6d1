// Calls of the function to itself.
fn quicksort(v: &mut [u32]) {
    if v.len() < 2 {
        return;
    }
    let middle = partition(v);
    quicksort(&mut v[..middle]);
    quicksort(&mut v[middle + 1..]);
}
