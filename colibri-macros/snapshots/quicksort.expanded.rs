fn quicksort(v: &mut [u32]) -> impl Future<Output = ()> {
    #[allow(unused_imports)]
    use ::colibri_core::__private as runtime;
    async move {
        let mut frame = Frame::new(const { &Function::new("quicksort", core::file!(), 0u32) });
        let body = async move {
            #[allow(unused_mut, unused_variables)]
            let mut polls = Around;
            let v = v;
            let mut fuel = take();
            let value: () = {
                if let Some(value) = None::<()> {
                    return value;
                };
                if v.len() < 2 {
                    return put(fuel);
                }
                let middle = partition(v);
                (match alloc::boxed::Box::pin(quicksort(&mut v[..middle])) {
                    future => {
                        if fuel <= 0 {
                            fuel = refill(
                                polls.lend(),
                                fuel,
                                const { &Site::new("quicksort", core::file!(), 0u32) },
                            )
                            .await;
                        }
                        fuel -= 1;
                        put(fuel);
                        let value = future.await;
                        #[allow(unreachable_code)]
                        {
                            fuel = take();
                        }
                        value
                    }
                });
                (match alloc::boxed::Box::pin(quicksort(&mut v[middle + 1..])) {
                    future => {
                        if fuel <= 0 {
                            fuel = refill(
                                polls.lend(),
                                fuel,
                                const { &Site::new("quicksort", core::file!(), 0u32) },
                            )
                            .await;
                        }
                        fuel -= 1;
                        put(fuel);
                        let value = future.await;
                        #[allow(unreachable_code)]
                        {
                            fuel = take();
                        }
                        value
                    }
                });
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
