fn scan(lines: &[&str], limit: usize) -> impl Future<Output = Result<usize, std::num::ParseIntError>> {
    #[allow(unused_imports)]
    use ::colibri_core::__private as runtime;
    async move {
        #[allow(unused_mut, unused_variables)]
        let mut polls = Own::begun(const { &Function::new("scan", core::file!(), 0u32) });
        let lines = lines;
        #[allow(unused_mut)]
        let mut limit = limit;
        let mut fuel = take();
        let value: Result<usize, std::num::ParseIntError> = {
            if let Some(value) = None::<Result<usize, std::num::ParseIntError>> {
                return value;
            };
            let mut total = 0;
            {
                match IntoIterator::into_iter(lines) {
                    mut iterator_1 => {
                        #[inline(never)]
                        #[allow(clippy::too_many_arguments, non_camel_case_types)]
                        fn nest<P0, P1, P2, P3, R>(
                            p0: P0,
                            p1: P1,
                            p2: P2,
                            p3: P3,
                            body: impl FnOnce(P0, P1, P2, P3) -> R,
                        ) -> R {
                            body(p0, p1, p2, p3)
                        }
                        let mut place: Entry<_, _, (), (), (), ()> = Entry::At0((iterator_1,));
                        loop {
                            {
                                let exit: Exit<Result<usize, std::num::ParseIntError>>;
                                (total, fuel, exit) = nest(
                                    limit,
                                    total,
                                    fuel,
                                    &mut place,
                                    |limit, mut total, mut fuel, place| {
                                        let exit = 'nest: {
                                            match Entry::take(place) {
                                                Entry::At0((mut iterator_1,)) => {
                                                    'lines: loop {
                                                        if fuel <= 0 {
                                                            *place = Entry::At0((iterator_1,));
                                                            break 'nest Exit::Left;
                                                        }
                                                        match Iterator::next(&mut iterator_1) {
                                                            None => break,
                                                            Some(line) => {
                                                                fuel -= 1;
                                                                match IntoIterator::into_iter(line.split(','))
                                                                {
                                                                    mut iterator_2 => {
                                                                        loop {
                                                                            if fuel <= 0 {
                                                                                *place = Entry::At1((
                                                                                    iterator_1, iterator_2,
                                                                                ));
                                                                                break 'nest Exit::Left;
                                                                            }
                                                                            match Iterator::next(
                                                                                &mut iterator_2,
                                                                            ) {
                                                                                None => break,
                                                                                Some(part) => {
                                                                                    fuel -= 1;
                                                                                    if part.is_empty() {
                                                                                        continue 'lines;
                                                                                    }
                                                                                    total += (match branch :: < Result < usize , std :: num :: ParseIntError > , _ > (part . parse :: < usize > ()) { ControlFlow :: Continue (value) => value , ControlFlow :: Break (value) => break 'nest Exit :: Return (value) , }) ;
                                                                                    if total > limit {
                                                                                        break 'lines;
                                                                                    }
                                                                                    if part == "end" {
                                                                                        break 'nest Exit :: Return ({ let value : Result < usize , std :: num :: ParseIntError > = Ok (total) ; value }) ;
                                                                                    }
                                                                                }
                                                                            }
                                                                        }
                                                                    }
                                                                }
                                                            }
                                                        }
                                                    }
                                                    break 'nest Exit::Done;
                                                }
                                                #[allow(
                                                    unused_mut,
                                                    unused_variables,
                                                    unused_assignments,
                                                    unused_labels,
                                                    unreachable_code
                                                )]
                                                Entry::At1((mut iterator_1, mut iterator_2)) => {
                                                    'iteration_0: {
                                                        loop {
                                                            if fuel <= 0 {
                                                                *place = Entry::At1((iterator_1, iterator_2));
                                                                break 'nest Exit::Left;
                                                            }
                                                            match Iterator::next(&mut iterator_2) {
                                                                None => break,
                                                                Some(part) => {
                                                                    fuel -= 1;
                                                                    if part.is_empty() {
                                                                        break 'iteration_0;
                                                                    }
                                                                    total += (match branch::<
                                                                        Result<
                                                                            usize,
                                                                            std::num::ParseIntError,
                                                                        >,
                                                                        _,
                                                                    >(
                                                                        part.parse::<usize>()
                                                                    ) {
                                                                        ControlFlow::Continue(value) => value,
                                                                        ControlFlow::Break(value) => {
                                                                            break 'nest Exit::Return(value);
                                                                        }
                                                                    });
                                                                    if total > limit {
                                                                        break 'nest Exit::Done;
                                                                    }
                                                                    if part == "end" {
                                                                        break 'nest Exit::Return({
                                                                            let value: Result<
                                                                                usize,
                                                                                std::num::ParseIntError,
                                                                            > = Ok(total);
                                                                            value
                                                                        });
                                                                    }
                                                                }
                                                            }
                                                        }
                                                    }
                                                    {
                                                        *place = Entry::At0((iterator_1,));
                                                        break 'nest Exit::Left;
                                                    }
                                                }
                                                _ => break 'nest Exit::Done,
                                            }
                                        };
                                        (total, fuel, exit)
                                    },
                                );
                                match exit {
                                    Exit::Done => break,
                                    Exit::Return(value) => {
                                        put(fuel);
                                        return value;
                                    }
                                    Exit::Left => {}
                                }
                            }
                            if fuel <= 0 {
                                let saved = (limit, total);
                                let site = place.site(
                                    const {
                                        &[
                                            Site::new("scan", core::file!(), 0u32),
                                            Site::new("scan", core::file!(), 0u32),
                                        ]
                                    },
                                );
                                fuel = refill(polls.lend(), fuel, site).await;
                                (limit, total) = saved;
                            }
                        }
                    }
                };
            }
            Ok(total)
        };
        #[allow(unreachable_code)]
        put(fuel);
        value
    }
}
