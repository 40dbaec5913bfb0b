//! The shapes have the length that was asked for, and are the same each time.

use crate::shapes;
use shapes::{EDGES, SHAPES};

#[test]
fn every_shape_is_as_long_as_asked() {
    for shape in SHAPES {
        for len in [0, 1, 2, 3, 100, 12_345] {
            assert_eq!((shape.make)(len).len(), len, "{}", shape.name);
            assert!((shape.make)(len) == (shape.make)(len), "{}", shape.name);
        }
    }
}

#[test]
fn names_differ() {
    let mut names: Vec<_> = SHAPES.iter().map(|s| s.name).chain(EDGES.iter().map(|e| e.name)).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn de_bruijn_has_each_window_once() {
    let text = (shapes::shape("de_bruijn").make)(1 << 12);
    let mut windows: Vec<Vec<u8>> =
        (0..text.len()).map(|i| (0..12).map(|j| text[(i + j) % text.len()]).collect()).collect();
    windows.sort_unstable();
    assert!(windows.windows(2).all(|pair| pair[0] != pair[1]));
}
