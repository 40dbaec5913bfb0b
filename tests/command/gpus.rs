//! The flags for GPUs. Their effects are tested on a machine that has a GPU; here it must not matter that there is
//! none.

use crate::place::{Place, compressed, text};
use crate::skip::{Need, skip};
use std::path::Path;

const BUILT_WITH: bool = cfg!(feature = "cuda");

fn gpu_here() -> bool {
    let here = Path::new("/dev/nvidiactl").exists() || Path::new("/dev/dxg").exists();
    if here {
        skip(Need::Gpu, "this machine has a GPU");
    }
    here
}

#[test]
fn a_program_without_gpu_support_says_so() {
    if BUILT_WITH {
        return skip(Need::Gpu, "hybz was built with GPU support");
    }
    let place = Place::with(&[("a", b"hello\n")]);
    for flags in [&["--gpu", "0"][..], &["--gpu-required"], &["--gpu=GPU-4f0b"], &["--gpu-pipeline=hybrid"]] {
        let args = [flags, &["a"]].concat();
        place.hybz(&args).says(1, "hybz: This hybz was built without GPU support (feature `cuda').\n");
        // All of these flags can be used with blocks of any size.
        place.hybz(&[&["--block-size=1M"], &args[..]].concat()).says(1, "built without GPU support");
    }
    assert_eq!(place.names(), ["a"]);
}

/// Without a GPU nothing changes for small inputs. For large inputs the CPU does all the work, and one line says why.
/// If a GPU is required, there is an error and no output.
#[test]
fn a_gpu_that_is_not_there() {
    if !BUILT_WITH {
        return skip(Need::Gpu, "hybz was built without GPU support");
    }
    if gpu_here() {
        return;
    }
    let large = text(5_000_000).repeat(15);
    let place = Place::with(&[("small", b"hello\n"), ("large", &large), ("small.bz2", &compressed(b"hello\n"))]);
    place.hybz(&["-k", "--block-size=1M", "small"]).silent(0);
    place.hybz(&["-kc", "--gpu", "0", "small"]).silent(0);
    place.hybz(&["-kc", "--gpu-pipeline", "resident", "small"]).silent(0);
    let plain = place.hybz(&["-1c", "large"]).silent(0);
    let asked = place.hybz(&["-1c", "--gpu=0", "large"]);
    assert_eq!((asked.code, asked.stderr.lines().count()), (0, 1), "{}", asked.stderr);
    assert!(asked.stderr.starts_with("hybz: a GPU could not be used: "), "{}", asked.stderr);
    assert!(asked.stdout == plain.stdout);
    place.hybz(&["-1cq", "--gpu=0", "large"]).silent(0);
    for shape in ["bwt", "hybrid", "resident"] {
        let shaped = place.hybz(&["-1c", "--gpu=0", "--gpu-pipeline", shape, "large"]);
        assert!(shaped.stderr == asked.stderr && shaped.stdout == plain.stdout, "{shape}: {}", shaped.stderr);
        place.hybz(&["-kc", "--block-size=1M", "--gpu-pipeline", shape, "small"]).silent(0);
    }
    for file in ["small", "large"] {
        place.hybz(&["--gpu-required", file]).says(1, "hybz: A GPU is required: ");
    }
    for file in ["small.bz2", "small.hbz"] {
        place.hybz(&["-dkc", file]).silent(0);
        place.hybz(&["-dkc", "--gpu-required", file]).says(1, "hybz: A GPU is required: ");
    }
    assert_eq!(place.names(), ["large", "small", "small.bz2", "small.hbz"]);
}
