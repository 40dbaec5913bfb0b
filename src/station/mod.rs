//! Lanes of GPUs as stations of the codec's tasks. (What a CPU core does is said by the tasks themselves.)

pub mod gpu;
