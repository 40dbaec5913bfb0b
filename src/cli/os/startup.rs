//! What the program does only to start faster. The other part is `link_unwinder` in `cuda/build.rs`.

/// C's `pow` and `exp2`, which indicatif's estimate of the time left calls through std. Without these definitions the
/// loader would load libm.so at every start for two functions: 0.09 ms of the 1.24 ms of a 1 kB file (3,000 runs of
/// each program in turn on 2 cores of an EPYC; the fastest tenth of them, because the machine was busy).
#[allow(unsafe_code)]
// SAFETY: it is declared as C declares it and does what C says, so every caller gets what it expects.
#[unsafe(no_mangle)]
extern "C" fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn exp2(power: f64) -> f64 {
    libm::exp2(power)
}
