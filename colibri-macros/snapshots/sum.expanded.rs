fn sum(data: &[u64]) -> impl core::future::Future<Output = u64> {
    async move {
        let mut frame = Frame::new(const { &Function::new("sum", core::file!(), 0u32) });
        let body = async move {
            let data = data;
            let mut fuel = take();
            let value: u64 = {
                if let core::option::Option::Some(value) = core::option::Option::None::<u64> {
                    return value;
                };
                let mut sum = 0;
                {
                    match core::iter::IntoIterator::into_iter(data) {
                        mut iterator_1 => {
                            let charge;
                            (charge, iterator_1) = hint(iterator_1);
                            let fits;
                            (fits, fuel) = charge(charge, fuel);
                            if fits {
                                for x in iterator_1 {
                                    sum += x;
                                }
                            } else {
                                loop {
                                    if fuel <= 0 {
                                        let saved = (sum, iterator_1);
                                        fuel = refill(const { &Site::new("sum", core::file!(), 0u32) }).await;
                                        (sum, iterator_1) = saved;
                                        continue;
                                    }
                                    let next;
                                    (next, iterator_1) = step(iterator_1);
                                    match next {
                                        core::option::Option::None => break,
                                        core::option::Option::Some(x) => {
                                            fuel -= 1;
                                            sum += x;
                                        }
                                    }
                                }
                            }
                        }
                    };
                }
                sum
            };
            #[allow(unreachable_code)]
            put(fuel);
            value
        };
        let mut body = core::pin::pin!(body);
        core::future::poll_fn(move |context| {
            let scope = enter(&mut frame);
            core::future::Future::poll(core::pin::Pin::as_mut(&mut body), context)
        })
        .await
    }
}
