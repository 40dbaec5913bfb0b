//! `.hbz`: what the flags make, who reads it, and what happens to damaged ones.

use crate::place::{Place, bzip2_installed, run_with_input, text};

#[test]
fn there_and_back() {
    let plain = text(2_500_000);
    for flags in [&["--block-size", "1M"][..], &["--perturb", "0.1%"], &["--block-size", "2M", "--perturb", "500"]] {
        let place = Place::with(&[("a", &plain)]);
        place.hybz(&[flags, &["a"]].concat()).silent(0);
        assert_eq!(place.names(), ["a.hbz"]);
        place.hybz(&["-t", "a.hbz"]).silent(0);
        assert!(place.hybz(&["-dc", "a.hbz"]).silent(0).stdout == plain);
        assert!(place.shell("hybz -dcf < a.hbz | cat").silent(0).stdout == plain);
        place.hybz(&["-d", "a.hbz"]).silent(0);
        assert!(place.names() == ["a"] && place.get("a") == plain);
    }
}

#[test]
fn through_pipes() {
    let place = Place::new();
    let plain = text(1_200_000);
    let coded = place.hybz_with_input(&["--block-size", "1M"], &plain).silent(0).stdout;
    assert!(place.hybz_with_input(&["-d"], &coded).silent(0).stdout == plain);
    let empty = place.hybz_with_input(&["--block-size", "1M"], b"").silent(0).stdout;
    assert_eq!(empty.len(), 64);
    assert!(place.hybz_with_input(&["-d"], &empty).silent(0).stdout.is_empty());
}

#[test]
fn bzip2_refuses_it_at_once() {
    if !bzip2_installed() {
        return;
    }
    let place = Place::new();
    let coded = place.hybz_with_input(&["--block-size", "1M"], &text(10_000)).silent(0).stdout;
    let run = run_with_input(place.command("bzip2").arg("-dc"), &coded);
    assert!(run.code == 2 && run.stdout.is_empty(), "{run:?}");
}

#[test]
fn names_and_sizes_that_do_not_fit() {
    let place = Place::with(&[("a.hbz", b"x"), ("a", b"x")]);
    assert_eq!(place.hybz(&["a.hbz"]).code, 1);
    for flags in
        [&["--block-size", "100k"][..], &["--block-size", "2G"], &["--block-size", "900k"], &["--perturb", "0"]]
    {
        assert_eq!(place.hybz(&[flags, &["a"]].concat()).code, 1, "{flags:?}");
    }
    assert_eq!(place.names(), ["a", "a.hbz"]);
}

#[test]
fn damaged_ones() {
    let place = Place::new();
    let coded = place.hybz_with_input(&["--block-size", "1M"], &text(2_500_000)).silent(0).stdout;
    for (at, cut, block) in [(200, 0, "block 1"), (coded.len() - 150, 0, "block 3"), (0, 200, "block 3")] {
        let mut bad = coded[..coded.len() - cut].to_vec();
        bad[at] ^= u8::from(at > 0);
        place.put("a.hbz", &bad);
        let run = place.hybz(&["-t", "a.hbz"]);
        assert!(run.code == 2 && run.stderr.contains(block), "{run:?}");
        assert_eq!(place.hybz(&["-d", "a.hbz"]).code, 2);
        assert_eq!(place.names(), ["a.hbz"], "nothing left behind");
    }
}
