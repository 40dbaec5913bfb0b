//! The traps of the format: `crafted::cases` against the `bzip2` program, and hybz against `crafted::cases`.

mod crafted;
mod program;

use crafted::{Case, Expect, cases};

/// Runs `check` over all cases on two threads; collects what it has to say and fails with all of it.
fn each(cases: &[Case], check: impl Fn(&Case) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let complaints = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(complaint) = check(case) {
                        let line = format!("{} ({}): {complaint}", case.name, case.why);
                        complaints.lock().expect("no check panics").push(line);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no check panics");
    assert!(complaints.is_empty(), "{} of {} cases:\n{}", complaints.len(), cases.len(), complaints.join("\n"));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<String> = cases::all().into_iter().map(|case| case.name).collect();
    names.sort();
    for pair in names.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn the_table_says_what_bzip2_does() {
    if !program::installed("bzip2") {
        return;
    }
    let cases = cases::all();
    eprintln!("{} cases", cases.len());
    each(&cases, |case| match (&case.expect, program::bunzip2(&case.file)) {
        (Expect::Accepted(text), Ok(out)) if *text == out => Ok(()),
        (Expect::Accepted(text), Ok(out)) => Err(format!("{} bytes, not the {} expected", out.len(), text.len())),
        (Expect::Accepted(_), Err((reason, _))) => Err(format!("refused: {reason:?}")),
        (Expect::Refused { .. }, Ok(_)) => Err("accepted".into()),
        (Expect::Refused { reason, .. }, Err((said, _))) if *reason != said => {
            Err(format!("refused as {said:?}, not {reason:?}"))
        }
        // What bzip2 wrote before it noticed may be less than the good blocks (it gives up with a full buffer) or more.
        (Expect::Refused { good, .. }, Err((_, out))) if !out.starts_with(good) && !good.starts_with(&out) => {
            Err(format!("wrote {} bytes that are not those of the {} good ones", out.len(), good.len()))
        }
        _ => Ok(()),
    });
}
