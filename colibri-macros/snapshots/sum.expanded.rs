fn sum(data: &[u64]) -> impl Future<Output = u64> {
    #[allow(unused_imports)]
    use ::colibri_core::__private as runtime;
    async move {
        #[allow(unused_mut, unused_variables)]
        let mut polls = Own::begun(const { &Function::new("sum", core::file!(), 0u32) });
        let data = data;
        let mut fuel = take();
        let value: u64 = {
            if let Some(value) = None::<u64> {
                return value;
            };
            let mut sum = 0;
            {
                match IntoIterator::into_iter(data) {
                    mut iterator_1 => {
                        #[inline(never)]
                        #[allow(clippy::too_many_arguments, non_camel_case_types)]
                        fn nest<P0, P1, P2, R>(
                            p0: P0,
                            p1: P1,
                            p2: P2,
                            body: impl FnOnce(P0, P1, P2) -> R,
                        ) -> R {
                            body(p0, p1, p2)
                        }
                        let mut place: Entry<_, (), (), (), (), ()> = Entry::At0((iterator_1,));
                        loop {
                            {
                                let exit: Exit<()>;
                                (sum, fuel, exit) =
                                    nest(sum, fuel, &mut place, |mut sum, mut fuel, place| {
                                        let exit = 'nest: {
                                            match Entry::take(place) {
                                                Entry::At0((mut iterator_1,)) => {
                                                    loop {
                                                        if fuel <= 0 {
                                                            *place = Entry::At0((iterator_1,));
                                                            break 'nest Exit::Left;
                                                        }
                                                        let mut strip = {
                                                            use {OpenAny as _, OpenFast as _};
                                                            (&mut &mut Probe(Some(iterator_1))).open(fuel)
                                                        };
                                                        for x in &mut strip {
                                                            sum += x;
                                                        }
                                                        let is_last;
                                                        (fuel, iterator_1, is_last) = strip.close();
                                                        if is_last {
                                                            break;
                                                        }
                                                    }
                                                    break 'nest Exit::Done;
                                                }
                                                _ => break 'nest Exit::Done,
                                            }
                                        };
                                        (sum, fuel, exit)
                                    });
                                match exit {
                                    Exit::Done => break,
                                    Exit::Return(()) => break,
                                    Exit::Left => {}
                                }
                            }
                            if fuel <= 0 {
                                let saved = (sum,);
                                let site = place.site(const { &[Site::new("sum", core::file!(), 0u32)] });
                                fuel = refill(polls.lend(), fuel, site).await;
                                (sum,) = saved;
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
    }
}
