fn scan(
    lines: &[&str],
    limit: usize,
) -> impl core::future::Future<Output = Result<usize, std::num::ParseIntError>> {
    async move {
        let mut frame = Frame::new(const { &Function::new("scan", core::file!(), 0u32) });
        let body = async move {
            let lines = lines;
            #[allow(unused_mut)]
            let mut limit = limit;
            let mut fuel = take();
            let value: Result<usize, std::num::ParseIntError> = {
                if let core::option::Option::Some(value) =
                    core::option::Option::None::<Result<usize, std::num::ParseIntError>>
                {
                    return value;
                };
                let mut total = 0;
                {
                    match core::iter::IntoIterator::into_iter(lines) {
                        mut iterator_1 => 'lines: loop {
                            if fuel <= 0 {
                                let saved = (limit, total, iterator_1);
                                fuel = refill(const { &Site::new("scan", core::file!(), 0u32) }).await;
                                (limit, total, iterator_1) = saved;
                                continue;
                            }
                            let next;
                            (next, iterator_1) = step(iterator_1);
                            match next {
                                core::option::Option::None => break,
                                core::option::Option::Some(line) => {
                                    fuel -= 1;
                                    {
                                        match core::iter::IntoIterator::into_iter(line.split(',')) {
                                            mut iterator_2 => 'finished_2: {
                                                loop {
                                                    if fuel <= 0 {
                                                        break;
                                                    }
                                                    let next;
                                                    (next, iterator_2) = step(iterator_2);
                                                    match next {
                                                        core::option::Option::None => break 'finished_2,
                                                        core::option::Option::Some(part) => {
                                                            fuel -= 1;
                                                            if part.is_empty() {
                                                                continue 'lines;
                                                            }
                                                            total += leave(part.parse::<usize>(), fuel)?;
                                                            if total > limit {
                                                                break 'lines;
                                                            }
                                                            if part == "end" {
                                                                return {
                                                                    let value: Result<
                                                                        usize,
                                                                        std::num::ParseIntError,
                                                                    > = Ok(total);
                                                                    #[allow(unreachable_code)]
                                                                    put(fuel);
                                                                    value
                                                                };
                                                            }
                                                        }
                                                    }
                                                }
                                                loop {
                                                    if fuel <= 0 {
                                                        let saved = (limit, total, iterator_1, iterator_2);
                                                        fuel = refill(
                                                            const { &Site::new("scan", core::file!(), 0u32) },
                                                        )
                                                        .await;
                                                        (limit, total, iterator_1, iterator_2) = saved;
                                                        continue;
                                                    }
                                                    let next;
                                                    (next, iterator_2) = step(iterator_2);
                                                    match next {
                                                        core::option::Option::None => break,
                                                        core::option::Option::Some(part) => {
                                                            fuel -= 1;
                                                            if part.is_empty() {
                                                                continue 'lines;
                                                            }
                                                            total += leave(part.parse::<usize>(), fuel)?;
                                                            if total > limit {
                                                                break 'lines;
                                                            }
                                                            if part == "end" {
                                                                return {
                                                                    let value: Result<
                                                                        usize,
                                                                        std::num::ParseIntError,
                                                                    > = Ok(total);
                                                                    #[allow(unreachable_code)]
                                                                    put(fuel);
                                                                    value
                                                                };
                                                            }
                                                        }
                                                    }
                                                }
                                            }
                                        };
                                    }
                                }
                            }
                        },
                    };
                }
                Ok(total)
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
