// A loop with another inside: what is alive at a check is saved, and the inner loop has a copy without an await.
fn insertion_sort(v: &mut [u32]) {
    for i in 1..v.len() {
        let key = v[i];
        let mut j = i;
        while j > 0 && v[j - 1] > key {
            v[j] = v[j - 1];
            j -= 1;
        }
        v[j] = key;
    }
}
