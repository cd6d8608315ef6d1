// An innermost `for` that runs to its end.
fn sum(data: &[u64]) -> u64 {
    let mut sum = 0;
    for x in data {
        sum += x;
    }
    sum
}
