//! Builds the CUDA code into a static library; a module of the build script, with the feature `cuda`.
//!
//! nvcc is looked for in `CUDA_HOME`, then on the PATH. `HYBZ_CUDA_ARCHS` lists the GPUs to compile for: compute
//! capabilities such as `90` or `80,89,90,100`, each compiled to machine code, and the last also kept as PTX, which
//! drivers compile for newer GPUs. By default that is `80,89,90,100` for a release build, and `90` otherwise, to save
//! time.
//!
//! The CUDA runtime is linked statically and libcuda not at all (the program looks for it when it runs), so that the
//! same binary runs on machines without a GPU.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

const SOURCES: &str = "keys sample_sort ranges sort first group refine thirds mtf tables bits resident suffixes \
    columns choose ans code_large huffman ranks walk expand decode tokens places entries decode_large line_table \
    find_lines line_keys tied_lines copy_lines sort_lines lz4 ansv longest path runs factor lzw batch lane_memory host";
const HEADERS: &str = "hybz.h limits.h tuned.hpp codes.hpp device.cuh groups.cuh splitting.cuh keys.cuh first.cuh \
    lane.cuh coding.cuh decoding.cuh large.cuh large_coding.cuh lines.cuh copies.cuh gather.cuh factor.cuh lzw.cuh \
    rank.cuh words.cuh ranks.cuh column.cuh scan.cuh";

/// Compiles the library and tells cargo how to link it.
pub fn build() {
    println!("cargo::rerun-if-changed=kernels.rs");
    for variable in ["CUDA_HOME", "PATH", "HYBZ_CUDA_ARCHS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let root = find_toolkit().unwrap_or_else(|what| fail(&what));
    check_version(&root);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    compile(&root, &out);
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=hybz_cuda");
    link_runtime(&root);
}

fn check_version(root: &Path) {
    let nvcc = root.join("bin/nvcc");
    let output = Command::new(&nvcc).arg("--version").output();
    let output = output.unwrap_or_else(|e| fail(&format!("{} does not run: {e}", nvcc.display())));
    let version = String::from_utf8_lossy(&output.stdout);
    if !version.contains("release 13.") {
        fail(&format!("{} is not of CUDA 13:\n{}", nvcc.display(), version.trim()));
    }
}

/// The compute capabilities to compile for.
fn archs() -> Vec<String> {
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let archs = env::var("HYBZ_CUDA_ARCHS").unwrap_or_else(|_| if release { "80,89,90,100" } else { "90" }.to_owned());
    let archs: Vec<String> = archs.split(',').map(|arch| arch.trim().to_owned()).collect();
    if let Some(bad) = archs.iter().find(|arch| arch.is_empty() || !arch.bytes().all(|b| b.is_ascii_digit())) {
        fail(&format!("HYBZ_CUDA_ARCHS: `{bad}` is no compute capability (such as 90)"));
    }
    archs
}

/// Compiles the sources to `libhybz_cuda.a` in `out`.
fn compile(root: &Path, out: &Path) {
    let archs = archs();
    let mut compile = Command::new(root.join("bin/nvcc"));
    compile.args(["-std=c++17", "-O3", "-lineinfo", "--threads", "0", "-Xcompiler", "-fPIC"]);
    for arch in &archs {
        compile.arg("-gencode").arg(format!("arch=compute_{arch},code=sm_{arch}"));
    }
    let last = &archs[archs.len() - 1];
    compile.arg("-gencode").arg(format!("arch=compute_{last},code=compute_{last}"));
    compile.arg("--lib").arg("-o").arg(out.join("libhybz_cuda.a"));
    for source in SOURCES.split_whitespace() {
        let path = format!("{source}.cu");
        println!("cargo::rerun-if-changed={path}");
        compile.arg(path);
    }
    for header in HEADERS.split_whitespace() {
        println!("cargo::rerun-if-changed={header}");
    }
    if !compile.status().is_ok_and(|status| status.success()) {
        fail("it cannot compile the code (see above)");
    }
}

/// Links the CUDA runtime, and the libraries that it and C++ need.
fn link_runtime(root: &Path) {
    let libraries = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|lib| root.join(lib));
    let Some(library) = libraries.iter().find(|lib| lib.join("libcudart_static.a").exists()) else {
        fail(&format!("no libcudart_static.a in {}", root.display()));
    };
    println!("cargo::rustc-link-search=native={}", library.display());
    println!("cargo::rustc-link-lib=static=cudart_static");
    for library in ["stdc++", "dl", "rt", "pthread"] {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
}

/// The folder that holds bin/nvcc.
fn find_toolkit() -> Result<PathBuf, String> {
    if let Some(home) = env::var_os("CUDA_HOME").map(PathBuf::from) {
        // cargo runs this in the package's folder, and CUDA_HOME may be relative to the repository's.
        let from_root = Path::new("..").join(&home);
        let home = if !home.exists() && from_root.exists() { from_root } else { home };
        let home = home.canonicalize().unwrap_or(home);
        return if has_nvcc(&home) {
            Ok(home)
        } else {
            Err(format!("CUDA_HOME is {}, but there is no bin/nvcc", home.display()))
        };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).find_map(|folder| {
        let nvcc = folder.join("nvcc").canonicalize().ok()?;
        let root = nvcc.parent()?.parent()?.to_path_buf();
        has_nvcc(&root).then_some(root)
    });
    found.ok_or_else(|| "no nvcc: neither CUDA_HOME is set nor is it on the PATH".to_owned())
}

fn has_nvcc(root: &Path) -> bool {
    root.join("bin/nvcc").is_file()
}

fn fail(what: &str) -> ! {
    eprintln!("hybz's feature `cuda` needs the compiler of CUDA 13: {what}");
    eprintln!("Without a CUDA toolkit (and without a GPU or root) this installs the compiler alone, with pip:");
    eprintln!("    cuda/install-nvcc.sh target/cuda && export CUDA_HOME=$PWD/target/cuda");
    exit(1);
}
