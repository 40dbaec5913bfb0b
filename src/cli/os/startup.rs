//! What makes the program start faster. (The other part is `link_unwinder` in `cuda/build.rs`.)

/// C's `pow`, which indicatif calls through std for its estimate of the time left.
#[allow(unsafe_code)]
// SAFETY: it is declared as C declares it and does what C says, so every caller gets what it expects.
#[unsafe(no_mangle)]
extern "C" fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}
