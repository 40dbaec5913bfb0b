//! Measures that only make a program start faster.

/// Defines C's `pow` and `exp2` in the program, which indicatif's estimate of the time left calls through std. Without
/// these definitions the loader would load libm.so at every start for two functions. Loading takes 0.09 ms of the 1.24
/// ms that hybz takes for a 1 kB file (3,000 alternating runs of each program on 2 cores of an EPYC; only the fastest
/// tenth counts, because the machine was busy).
///
/// It is a macro because the symbols must belong to the program: a library with them would decide for every program
/// that uses it.
#[macro_export]
macro_rules! without_libm {
    () => {
        #[allow(unsafe_code)]
        // SAFETY: the function is declared as in C and does what C specifies, so every caller gets what it expects.
        #[unsafe(no_mangle)]
        extern "C" fn pow(base: f64, exponent: f64) -> f64 {
            $crate::startup::pow(base, exponent)
        }

        #[allow(unsafe_code)]
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        extern "C" fn exp2(power: f64) -> f64 {
            $crate::startup::exp2(power)
        }
    };
}

#[doc(hidden)]
pub use libm::{exp2, pow};
