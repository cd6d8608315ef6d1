fn insertion_sort(v: &mut [u32]) -> impl Future<Output = ()> {
    #[allow(unused_imports)]
    use ::colibri_core::__private as runtime;
    async move {
        #[allow(unused_mut, unused_variables)]
        let mut polls = Own::begun(const { &Function::new("insertion_sort", core::file!(), 0u32) });
        #[allow(unused_mut)]
        let mut v = v;
        let mut fuel = take();
        let value: () = {
            if let Some(value) = None::<()> {
                return value;
            };
            {
                match IntoIterator::into_iter(1..v.len()) {
                    mut iterator_0 => {
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
                        let mut place: Entry<_, _, (), (), (), ()> = Entry::At0((iterator_0,));
                        loop {
                            {
                                let exit: Exit<()>;
                                (fuel, exit) = nest(&mut *v, fuel, &mut place, |v, mut fuel, place| {
                                    let exit = 'nest: {
                                        match Entry::take(place) {
                                            Entry::At0((mut iterator_0,)) => {
                                                loop {
                                                    if fuel <= 0 {
                                                        *place = Entry::At0((iterator_0,));
                                                        break 'nest Exit::Left;
                                                    }
                                                    match Iterator::next(&mut iterator_0) {
                                                        None => break,
                                                        Some(i) => {
                                                            fuel -= 1;
                                                            let key = v[i];
                                                            let mut j = i;
                                                            loop {
                                                                if fuel < 4 {
                                                                    if fuel <= 0
                                                                        && spent(
                                                                            &mut fuel,
                                                                            const {
                                                                                &Site::new(
                                                                                    "insertion_sort",
                                                                                    core::file!(),
                                                                                    0u32,
                                                                                )
                                                                            },
                                                                        )
                                                                    {
                                                                        *place =
                                                                            Entry::At1((iterator_0, key, j));
                                                                        break 'nest Exit::Left;
                                                                    }
                                                                    if j > 0 && v[j - 1] > key {
                                                                        fuel -= 1;
                                                                        v[j] = v[j - 1];
                                                                        j -= 1;
                                                                    } else {
                                                                        break;
                                                                    }
                                                                } else {
                                                                    fuel -= 4;
                                                                    if j > 0 && v[j - 1] > key {
                                                                        v[j] = v[j - 1];
                                                                        j -= 1;
                                                                    } else {
                                                                        break;
                                                                    }
                                                                    #[allow(unreachable_code)]
                                                                    {
                                                                        if j > 0 && v[j - 1] > key {
                                                                            v[j] = v[j - 1];
                                                                            j -= 1;
                                                                        } else {
                                                                            break;
                                                                        }
                                                                        if j > 0 && v[j - 1] > key {
                                                                            v[j] = v[j - 1];
                                                                            j -= 1;
                                                                        } else {
                                                                            break;
                                                                        }
                                                                        if j > 0 && v[j - 1] > key {
                                                                            v[j] = v[j - 1];
                                                                            j -= 1;
                                                                        } else {
                                                                            break;
                                                                        }
                                                                    }
                                                                }
                                                            }
                                                            v[j] = key;
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
                                            Entry::At1((mut iterator_0, mut key, mut j)) => {
                                                'iteration_0: {
                                                    loop {
                                                        if fuel <= 0 {
                                                            *place = Entry::At1((iterator_0, key, j));
                                                            break 'nest Exit::Left;
                                                        }
                                                        if j > 0 && v[j - 1] > key {
                                                            fuel -= 1;
                                                            v[j] = v[j - 1];
                                                            j -= 1;
                                                        } else {
                                                            break;
                                                        }
                                                    }
                                                    v[j] = key;
                                                }
                                                {
                                                    *place = Entry::At0((iterator_0,));
                                                    break 'nest Exit::Left;
                                                }
                                            }
                                            _ => break 'nest Exit::Done,
                                        }
                                    };
                                    (fuel, exit)
                                });
                                match exit {
                                    Exit::Done => break,
                                    Exit::Return(()) => break,
                                    Exit::Left => {}
                                }
                            }
                            if fuel <= 0 {
                                let saved = (v,);
                                let site = place.site(
                                    const {
                                        &[
                                            Site::new("insertion_sort", core::file!(), 0u32),
                                            Site::new("insertion_sort", core::file!(), 0u32),
                                        ]
                                    },
                                );
                                fuel = refill(polls.lend(), fuel, site).await;
                                (v,) = saved;
                            }
                        }
                    }
                };
            }
        };
        #[allow(unreachable_code)]
        put(fuel);
        value
    }
}
