//! Lanes of GPUs as stations of the codec's tasks. (Each task itself says how a CPU core does it.)

pub mod gpu;
