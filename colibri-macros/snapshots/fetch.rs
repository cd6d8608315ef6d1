// An `async` method: awaits hand the fuel over.
pub async fn fetch(mut self, (first, _): (u32, Secret), _: Guard) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < self.limit {
        out.extend(self.read(first).await);
    }
    out
}
