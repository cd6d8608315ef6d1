fn insertion_sort(v: &mut [u32]) -> impl core::future::Future<Output = ()> {
    async move {
        let mut frame = Frame::new(const { &Function::new("insertion_sort", core::file!(), 0u32) });
        let body = async move {
            #[allow(unused_mut)]
            let mut v = v;
            let mut fuel = take();
            let value: () = {
                if let core::option::Option::Some(value) = core::option::Option::None::<()> {
                    return value;
                };
                {
                    match core::iter::IntoIterator::into_iter(1..v.len()) {
                        mut iterator_0 => loop {
                            if fuel <= 0 {
                                let saved = (v, iterator_0);
                                fuel =
                                    refill(const { &Site::new("insertion_sort", core::file!(), 0u32) }).await;
                                (v, iterator_0) = saved;
                                continue;
                            }
                            let next;
                            (next, iterator_0) = step(iterator_0);
                            match next {
                                core::option::Option::None => break,
                                core::option::Option::Some(i) => {
                                    fuel -= 1;
                                    let key = v[i];
                                    #[allow(unused_mut)]
                                    let mut key = key;
                                    let mut j = i;
                                    'finished_3: {
                                        loop {
                                            if fuel <= 0 {
                                                break;
                                            }
                                            if j > 0 && v[j - 1] > key {
                                                fuel -= 1;
                                                v[j] = v[j - 1];
                                                j -= 1;
                                            } else {
                                                break 'finished_3;
                                            }
                                        }
                                        loop {
                                            if fuel <= 0 {
                                                let saved = (v, key, j, iterator_0);
                                                fuel = refill (const { & Site :: new ("insertion_sort" , core :: file ! () , 0u32) }) . await ;
                                                (v, key, j, iterator_0) = saved;
                                                continue;
                                            }
                                            if j > 0 && v[j - 1] > key {
                                                fuel -= 1;
                                                v[j] = v[j - 1];
                                                j -= 1;
                                            } else {
                                                break;
                                            }
                                        }
                                    }
                                    v[j] = key;
                                }
                            }
                        },
                    };
                }
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
