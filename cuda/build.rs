//! Builds the CUDA code (feature `cuda`) into a static library; and sees to it that the command without it needs no other library than
//! libc.
//!
//! nvcc is looked for in `CUDA_HOME`, then on the PATH. `HYBZ_CUDA_ARCHS` says which GPUs the code is for: compute
//! capabilities such as `90` or `80,89,90,100`, each compiled to machine code, and the last also kept as PTX, which drivers
//! compile for newer GPUs. By default that is `80,89,90,100` for a release build, and `90` otherwise, to save time.
//!
//! The CUDA runtime is linked statically and libcuda not at all (it is looked for when the program runs), so that the
//! same binary runs on machines without a GPU.

fn main() {
    println!("cargo::rerun-if-changed=cuda/build.rs");
    #[cfg(feature = "cuda")]
    cuda::build();
    // With CUDA comes the C++ library, and with that libgcc_s anyhow.
    if !cfg!(feature = "cuda") {
        link_unwinder();
    }
}

/// Puts the unwinder into the command: to load libgcc_s takes 0.1 ms of the 0.9 that decompressing a 1 kB file takes.
///
/// Where a C compiler of another kind is the linker, or this is for another machine, everything stays as it is.
fn link_unwinder() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let linux = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !linux || variable("HOST") != variable("TARGET") {
        return;
    }
    let asked = std::process::Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let archive = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    // Without such a file the name comes back alone. A comma would end the linker's argument.
    if std::path::Path::new(&archive).is_absolute() && !archive.contains(',') {
        // With another compiler it is elsewhere.
        println!("cargo::rerun-if-changed={archive}");
        println!("cargo::rustc-link-arg-bin=hybz=-Wl,--push-state,--whole-archive,{archive},--pop-state");
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use std::env;
    use std::path::{Path, PathBuf};
    use std::process::{Command, exit};

    const STEPS: [&str; 11] =
        ["keys", "sort", "group", "refine", "thirds", "mtf", "tables", "bits", "resident", "suffixes", "lane"];
    const HEADERS: [&str; 5] = ["hybz.h", "device.cuh", "lane.cuh", "coding.cuh", "codes.hpp"];

    pub fn build() {
        for variable in ["CUDA_HOME", "PATH", "HYBZ_CUDA_ARCHS"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        let root = find_toolkit().unwrap_or_else(|what| fail(&what));
        let nvcc = root.join("bin/nvcc");
        let said = Command::new(&nvcc).arg("--version").output();
        let said = said.unwrap_or_else(|e| fail(&format!("{} does not run: {e}", nvcc.display())));
        let said = String::from_utf8_lossy(&said.stdout);
        if !said.contains("release 13.") {
            fail(&format!("{} is not of CUDA 13:\n{}", nvcc.display(), said.trim()));
        }

        let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
        let archs =
            env::var("HYBZ_CUDA_ARCHS").unwrap_or_else(|_| if release { "80,89,90,100" } else { "90" }.to_owned());
        let archs: Vec<&str> = archs.split(',').map(str::trim).collect();
        if let Some(bad) = archs.iter().find(|arch| arch.is_empty() || !arch.bytes().all(|b| b.is_ascii_digit())) {
            fail(&format!("HYBZ_CUDA_ARCHS: `{bad}` is no compute capability (such as 90)"));
        }

        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        let mut compile = Command::new(&nvcc);
        compile.args(["-std=c++17", "-O3", "-lineinfo", "--threads", "0", "-Xcompiler", "-fPIC"]);
        for arch in &archs {
            compile.arg("-gencode").arg(format!("arch=compute_{arch},code=sm_{arch}"));
        }
        let last = archs[archs.len() - 1];
        compile.arg("-gencode").arg(format!("arch=compute_{last},code=compute_{last}"));
        compile.arg("--lib").arg("-o").arg(out.join("libhybz_cuda.a"));
        for step in STEPS {
            let path = format!("cuda/{step}.cu");
            println!("cargo::rerun-if-changed={path}");
            compile.arg(path);
        }
        for header in HEADERS {
            println!("cargo::rerun-if-changed=cuda/{header}");
        }
        if !compile.status().is_ok_and(|status| status.success()) {
            fail("it cannot compile the code (see above)");
        }
        println!("cargo::rustc-link-search=native={}", out.display());
        println!("cargo::rustc-link-lib=static=hybz_cuda");

        let libraries =
            ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|lib| root.join(lib));
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
}
