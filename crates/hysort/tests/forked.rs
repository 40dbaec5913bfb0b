//! A process that has used the library is forked: the child can sort, and nothing in it hangs.

use hybz_testkit::fork::{in_child, run_tests};
use hybz_testkit::shapes;
use hysort::{Error, Limits, Order, Pool, Sorter, sorted};

/// A sorter that was begun before the fork is an error in the child, and can be dropped there; its pool works.
fn sorters_of_the_parent_are_errors_in_the_child() {
    let text = &(shapes::shape("words").make)(700_000)[..];
    let (order, pool) = (Order::new().end(b' '), Pool::builder().build());
    let expected = sorted(text, &order, &pool).unwrap();
    for memory in [u64::MAX, 1 << 20] {
        let limits = Limits::new().memory(memory).temporary(tempfile::tempfile);
        let mut sorter = Sorter::new(&order, limits, &pool);
        sorter.push(text).unwrap();
        let sorter = std::cell::Cell::new(Some(sorter));
        in_child("a sorter of the parent", || {
            let mut sorter = sorter.take().unwrap();
            let pushed = (0..).take(64).try_for_each(|_| sorter.push(text));
            assert!(matches!(pushed, Err(Error::Forked)), "{pushed:?}");
            assert!(matches!(sorter.write_to(&mut std::io::sink()), Err(Error::Forked)));
            assert!(sorted(text, &order, &pool).unwrap() == expected);
        });
        let mut out = Vec::new();
        sorter.take().unwrap().write_to(&mut out).unwrap();
        assert!(out == expected);
    }
}

fn main() {
    run_tests(&[("sorters_of_the_parent_are_errors_in_the_child", sorters_of_the_parent_are_errors_in_the_child)])
}
