//! Lanes of GPUs as stations of the codec's tasks. (How a CPU core does a task is part of the task.)

pub mod gpu;
