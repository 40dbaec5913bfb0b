//! Compiles the kernel (feature `cuda`) to machine code that the program contains and passes to the driver.
//!
//! nvcc is searched for in `CUDA_HOME`, then on the PATH; `HYBZ_CUDA_ARCHS` lists the GPUs to compile for, as for hybz
//! itself (`cuda/kernels.rs` of the repository). Nothing is linked: the program loads the driver when it runs.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    cuda::build();
}

#[cfg(feature = "cuda")]
mod cuda {
    use std::env;
    use std::path::PathBuf;
    use std::process::{Command, exit};

    pub fn build() {
        for variable in ["CUDA_HOME", "PATH", "HYBZ_CUDA_ARCHS"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        println!("cargo::rerun-if-changed=cuda/dither.cu");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("dither.fatbin");
        let nvcc =
            env::var_os("CUDA_HOME").map_or_else(|| "nvcc".into(), |home| absolute(home.into()).join("bin/nvcc"));
        let mut compile = Command::new(&nvcc);
        compile.args(["-std=c++17", "-O3", "-lineinfo", "--fatbin", "-o"]).arg(&out).arg("cuda/dither.cu");
        let archs = archs();
        for arch in &archs {
            compile.arg("-gencode").arg(format!("arch=compute_{arch},code=sm_{arch}"));
        }
        // Drivers compile this form for newer GPUs.
        let last = &archs[archs.len() - 1];
        compile.arg("-gencode").arg(format!("arch=compute_{last},code=compute_{last}"));
        match compile.status() {
            Ok(status) if status.success() => {}
            Ok(_) => fail("it cannot compile the kernel (see above)"),
            Err(error) => fail(&format!("{} does not run: {error}", nvcc.display())),
        }
    }

    /// Resolves a relative CUDA_HOME from the folder in which cargo was called, which is the repository's root or this
    /// package's.
    fn absolute(home: PathBuf) -> PathBuf {
        let from_root = PathBuf::from("../..").join(&home);
        let home = if home.is_relative() && !home.exists() && from_root.exists() { from_root } else { home };
        home.canonicalize().unwrap_or(home)
    }

    /// The compute capabilities to compile for.
    fn archs() -> Vec<String> {
        let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
        let usual = if release { "80,89,90,100" } else { "90" };
        let archs = env::var("HYBZ_CUDA_ARCHS").unwrap_or_else(|_| usual.to_owned());
        let archs: Vec<String> = archs.split(',').map(|arch| arch.trim().to_owned()).collect();
        if let Some(bad) = archs.iter().find(|arch| arch.is_empty() || !arch.bytes().all(|byte| byte.is_ascii_digit()))
        {
            fail(&format!("HYBZ_CUDA_ARCHS: `{bad}` is no compute capability (such as 90)"));
        }
        archs
    }

    fn fail(what: &str) -> ! {
        eprintln!("the feature `cuda` needs the compiler of CUDA 13: {what}");
        eprintln!("In the repository's root this installs it: cuda/install-nvcc.sh target/cuda");
        eprintln!("    export CUDA_HOME=$PWD/target/cuda");
        exit(1);
    }
}
