pub fn fetch(mut self, argument_1: (u32, Secret), argument_2: Guard) -> impl Future<Output = Vec<u8>> {
    #[allow(unused_imports)]
    use ::colibri_core::__private as runtime;
    async move {
        let mut frame = Frame::new(const { &Function::new("fetch", core::file!(), 0u32) });
        let body = async move {
            #[allow(unused_mut, unused_variables)]
            let mut polls = Around;
            let _ = &self;
            #[allow(unused_mut)]
            let mut argument_1 = argument_1;
            let (first, _) = argument_1;
            #[allow(unused_mut)]
            let mut argument_2 = argument_2;
            let mut fuel = take();
            let value: Vec<u8> = {
                if let Some(value) = None::<Vec<u8>> {
                    return value;
                };
                let mut out = Vec::new();
                loop {
                    if fuel <= 0 {
                        fuel = refill(polls.lend(), fuel, const { &Site::new("fetch", core::file!(), 0u32) })
                            .await;
                        continue;
                    }
                    if out.len() < self.limit {
                        fuel -= 1;
                        out.extend(
                            (match IntoFuture::into_future(self.read(first)) {
                                future => {
                                    put(fuel);
                                    let value = future.await;
                                    #[allow(unreachable_code)]
                                    {
                                        fuel = take();
                                    }
                                    value
                                }
                            }),
                        );
                    } else {
                        break;
                    }
                }
                out
            };
            #[allow(unreachable_code)]
            put(fuel);
            value
        };
        let mut body = core::pin::pin!(body);
        core::future::poll_fn(move |context| {
            let scope = enter(&mut frame);
            Future::poll(core::pin::Pin::as_mut(&mut body), context)
        })
        .await
    }
}
