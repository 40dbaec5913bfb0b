//! The recipes of docs/CLUSTERS.md, as they are written there. bzip2 has no flags for them.

use super::rows;
use crate::place::{Place, installed, noise, text};
use crate::skip::{Need, skip};

rows! {
    "the recipe for GNU parallel; run again after a failure" | "no shards" | "bzip2's bytes" => gnu_parallel;
    "the recipe for parts, with GNU parallel" | "no parts" | "each line once" => parts_by_gnu_parallel;
    "the recipe for a Kubernetes Indexed Job, its command" | "no shards" | "bzip2's bytes" => kubernetes_command;
}

const PAGE: &str = include_str!("../../../docs/CLUSTERS.md");

/// The recipe with this name, with `smaller` in place of `size`.
fn recipe(name: &str, size: &str, smaller: &str) -> String {
    let (_, rest) = PAGE.split_once(&format!("<!-- recipe: {name} -->\n```")).expect("a recipe");
    let (_, rest) = rest.split_once('\n').expect("a language");
    let (recipe, _) = rest.split_once("\n```\n").expect("an end");
    assert!(size.is_empty() || recipe.contains(size), "{recipe}");
    if size.is_empty() { recipe.to_owned() } else { recipe.replace(size, smaller) }
}

fn dump() -> Vec<u8> {
    let mut dump = Vec::new();
    for page in 0..150 {
        dump.extend(format!("<page>\r\n{page}\n").bytes());
        dump.extend(text(7_000 + 100 * page));
        dump.extend(vec![b'r'; 5 * page]);
        dump.extend(noise(page).iter().map(|byte| byte | 0x80));
        dump.extend(b"\n</page>\n");
    }
    dump.extend(b"<page> without a line end");
    dump
}

fn gnu_parallel() {
    if !installed("parallel") {
        return;
    }
    let place = Place::with(&[("dump.xml", &dump())]);
    let recipe = recipe("parallel", "--plan=4G", "-1 --plan=300k");
    let run = place.shell(&format!("set -eu -o pipefail; {recipe}"));
    assert_eq!(run.code, 0, "{run:?}");
    place.shell("hybz -1c dump.xml | cmp - dump.xml.bz2").silent(0);
    assert!(place.has("part.5"));
    // Some parts are missing, and one part was left by a worker that could not finish it.
    place.shell("cp part.2 good; rm part.1 part.3 dump.xml.bz2").silent(0);
    let run = place.shell(&format!("set -eu -o pipefail; {recipe}; cmp part.2 good"));
    assert_eq!(run.code, 0, "{run:?}");
    place.shell("hybz -1c dump.xml | cmp - dump.xml.bz2").silent(0);
}

fn parts_by_gnu_parallel() {
    if !installed("parallel") {
        return;
    }
    let place = Place::with(&[("dump.xml", &dump())]);
    place.shell("hybz -1 dump.xml").silent(0);
    let recipe = recipe("parts", "100", "9");
    let run = place.shell(&format!("set -eu -o pipefail; {recipe}"));
    assert_eq!((run.code, run.out().trim()), (0, "151"), "{run:?}");
    // The text that the parallel calls read is right.
    let run = place.shell(
        "seq 9 | parallel -k hybz -p1 --split {}/9 --lines dump.xml.bz2 > all; hybz -dc dump.xml.bz2 | cmp - all",
    );
    run.silent(0);
}

fn kubernetes_command() {
    if !installed("python3") {
        return;
    }
    let place = Place::with(&[("dump.xml", &dump()), ("job.yaml", recipe("kubernetes", "", "").as_bytes())]);
    place.put(
        "read.py",
        b"import yaml\nspec = yaml.safe_load(open('job.yaml'))['spec']\n\
          assert spec['completionMode'] == 'Indexed'\n\
          container, = spec['template']['spec']['containers']\nassert container['command'] == ['sh', '-c']\n\
          open('command', 'w').write(container['args'][0])\n",
    );
    if place.shell("python3 -c 'import yaml'").code != 0 {
        return skip(Need::Python, "no yaml");
    }
    place.shell("python3 read.py && hybz -1 --plan=300k dump.xml > plan").silent(0);
    place
        .shell(
            "set -e; last=$(($(grep -vc '^#' plan) - 1)); for n in $(seq $last -1 0) 0; do \
             JOB_COMPLETION_INDEX=$n sh -c \"$(cat command)\"; done; hybz --join=plan part.* -o dump.xml.bz2",
        )
        .silent(0);
    place.shell("hybz -1c dump.xml | cmp - dump.xml.bz2").silent(0);
}
