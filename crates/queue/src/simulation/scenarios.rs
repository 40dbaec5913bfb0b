//! Scenarios for the simulated machines, and the maximum time of each.

use super::*;

#[test]
fn cores_alone_share_evenly() {
    let machine = Machine::new(16, 45e6, &[]);
    let outcome = run(&machine, Input::of(1e9));
    let ideal = 1e9 / (16.0 * 45e6);
    assert!(outcome.end < ideal * 1.03 && outcome.by_cores == 1112, "{outcome:?}, ideal {ideal}");
}

/// Whatever the length of the input, cores never delay the end, and a GPU is started if it pays.
#[test]
fn a_gpu_that_is_five_times_all_cores() {
    let machine = Machine::new(16, 40e6, &[H200]);
    for (gigabytes, starts) in [(0.1, false), (0.4, false), (1.0, true), (2.0, true), (8.0, true), (24.0, true)] {
        let input = Input::of(gigabytes * 1e9);
        let outcome = run(&machine, input);
        assert_eq!(outcome.started_gpus > 0, starts, "{gigabytes} GB: {outcome:?}");
        let alone = cores_alone(&machine, input);
        // The cores work until the GPU has started; from then on the rate is at least the GPU's own.
        let with_gpu = 0.65 + (input.blocks as f64 * BLOCK - 0.6 * 16.0 * 40e6) / H200_RATE;
        let most = if starts { with_gpu + 0.12 } else { alone };
        assert!(outcome.end <= most * 1.01, "{gigabytes} GB: {outcome:?}, at most {most}");
    }
}

#[test]
fn a_gpu_that_is_half_a_core() {
    let weak = Gpu { rate: 20e6, max_batch: 4, lanes: 2, ..H200 };
    let machine = Machine::new(8, 40e6, &[weak]);
    for gigabytes in [1.0, 4.0] {
        let input = Input::of(gigabytes * 1e9);
        let outcome = run(&machine, input);
        // Half of the cores rest for the 0.6 s of the GPU's start, because its low rate is not known yet; and the last
        // piece of work may be one batch of such a lane, 0.4 s. No more than these times is lost.
        let alone = cores_alone(&machine, input);
        assert!(outcome.end < alone * 1.01 + 0.3 + 0.4, "{outcome:?}, cores alone {alone}");
        assert!(outcome.by_cores > input.blocks * 9 / 10, "{outcome:?}");
    }
}

#[test]
fn one_core_beside_a_gpu() {
    for core_rate in [2e6, 40e6] {
        let machine = Machine { hardware: 16, ..Machine::new(1, core_rate, &[H200]) };
        let input = Input::of(8e9);
        let outcome = run(&machine, input);
        // A slow core needs half a second for a block, so it must not do the last one.
        assert!(outcome.end < 0.7 + 8e9 / H200_RATE + 0.15, "{outcome:?}");
        assert!(outcome.by_gpus > input.blocks * 9 / 10, "{outcome:?}");
    }
}

#[test]
fn four_gpus_and_64_cores() {
    let machine = Machine::new(64, 30e6, &[H200; 4]);
    let input = Input { window: 5000, read_rate: 14e9, ..Input::of(24e9) };
    let outcome = run(&machine, input);
    assert_eq!(outcome.started_gpus, 4);
    assert!(outcome.end < 0.65 + (24e9 - 0.6 * 64.0 * 30e6) / (4.0 * H200_RATE) + 0.2, "{outcome:?}");
    // The GPUs do most of the blocks, although the cores also work after the GPUs have started.
    assert!(outcome.by_cores < input.blocks / 4, "{outcome:?}");
}

/// Cores compress zeros as fast as these can be read: a GPU would only add its start-up time. With a slow pipe, the
/// source is the bottleneck, not the cores.
#[test]
fn cheap_work_and_a_slow_pipe_need_no_gpu() {
    for (core_rate, read_rate, bytes, announced) in [(2e9, 2.5e9, 2e9, true), (45e6, 200e6, 4e9, false)] {
        let machine = Machine::new(16, core_rate, &[H200]);
        let outcome = run(&machine, Input { read_rate, announced, ..Input::of(bytes) });
        assert_eq!(outcome.started_gpus, 0, "{outcome:?}");
    }
}

/// The length of a pipe is unknown, so as much is expected as has arrived.
#[test]
fn a_fast_pipe_gets_its_gpu() {
    let machine = Machine::new(16, 45e6, &[H200]);
    let input = Input { announced: false, window: 200, ..Input::of(8e9) };
    let outcome = run(&machine, input);
    assert!(outcome.started_gpus == 1 && outcome.end < 0.6 * cores_alone(&machine, input), "{outcome:?}");
}

/// With blocks of 9 MB, a GPU's start waits neither for the first block to be done nor for the last core to get one.
#[test]
fn long_blocks_get_their_gpu_at_once() {
    let machine = Machine::new(32, 30e6, &[H200]);
    let input = Input { blocks: 900, block: 9e6, read_rate: 1.2e9, announced: true, window: 64, verify: false };
    let outcome = run(&machine, input);
    assert!(outcome.gpus_from.is_some_and(|from| from < 0.05), "{outcome:?}");
    // If the blocks arrive slowly, the cores keep up.
    let slow = run(&machine, Input { read_rate: 300e6, ..input });
    assert_eq!(slow.started_gpus, 0, "{slow:?}");
}

/// A core would need 10 s for the block, so the block waits for the GPU, which is started immediately. If the GPU
/// fails, a core does the block.
#[test]
fn one_long_block() {
    for fails_to_start in [false, true] {
        let gpu = Gpu { max_batch: 1, rate: 8e9, fails_to_start, ..H200 };
        let input = Input { blocks: 1, block: 400e6, ..Input::of(1.0) };
        let outcome = run(&Machine::new(16, 40e6, &[gpu]), input);
        let expected = if fails_to_start { 10.6 } else { 1.02 };
        assert!(outcome.end < expected * 1.02 && outcome.by_cores == usize::from(fails_to_start), "{outcome:?}");
    }
}

#[test]
fn gpus_that_fail_or_hang() {
    for (fails_to_start, hangs) in [(true, None), (false, Some((1.0, 0.5))), (false, Some((0.0, 5.0)))] {
        for cores in [0, 16] {
            let gpu = Gpu { fails_to_start, hangs, ..H200 };
            let machine = Machine::new(cores, 45e6, &[gpu]);
            let input = Input::of(3e9);
            let outcome = run(&machine, input);
            let alone = if cores > 0 { cores_alone(&machine, input) } else { 3e9 / 45e6 };
            // While the device hangs, cores do the rest; once its time is up, they do its blocks.
            assert!(outcome.end < alone * 1.05 + 6.0, "{fails_to_start} {hangs:?} {cores} cores: {outcome:?}, {alone}");
        }
    }
}

/// A second device is started for much work only, even if both could be started together.
#[test]
fn a_second_gpu_is_worth_its_start() {
    let machine = Machine::new(16, 45e6, &[H200; 2]);
    for (gigabytes, count) in [(2.0, 1), (24.0, 2)] {
        assert_eq!(run(&machine, Input::of(gigabytes * 1e9)).started_gpus, count, "{gigabytes} GB");
    }
}

/// Every block is verified by a core other than its maker, which costs a quarter more.
#[test]
fn verification_takes_a_quarter_more() {
    for cores in [2, 3, 16] {
        let machine = Machine::new(cores, 45e6, &[]);
        let outcome = run(&machine, Input { verify: true, ..Input::of(1e9) });
        let ideal = 1.25e9 / (cores as f64 * 45e6);
        assert!(outcome.end < ideal * 1.05 && outcome.gone == 0, "{outcome:?}, ideal {ideal}");
    }
}

/// A device computes wrong results from some moment on. It is blamed, all of its lanes leave, and the cores redo its
/// wrong blocks and do the rest.
#[test]
fn a_gpu_that_lies_is_given_up() {
    for (cores, lies_after) in [(2, 1.0), (16, 1.0), (16, 0.0)] {
        let machine = Machine::new(cores, 45e6, &[Gpu { lies_after, ..H200 }]);
        let outcome = run(&machine, Input { verify: true, ..Input::of(4e9) });
        assert!(outcome.again > 0 && outcome.gone == H200.lanes, "{outcome:?}");
        // Only blocks that were in flight when the first one was called wrong may be coded again.
        assert!(outcome.again <= Input::of(1.0).window, "{outcome:?}");
        let alone = cores_alone(&machine, Input { verify: true, ..Input::of(4e9) });
        assert!(outcome.end < alone * 1.1 + 2.0, "{outcome:?}, alone {alone}");
    }
}

/// Several blocks arrive late, one by one; a core does each of them immediately.
#[test]
fn inputs_that_come_late() {
    let machine = Machine::new(4, 45e6, &[H200]);
    let input = Input { blocks: 20, read_rate: 900e3 / 5.0, announced: false, ..Input::of(1.0) };
    let outcome = run(&machine, input);
    assert!(outcome.end < 19.0 * 5.0 + 0.03 && outcome.by_cores == 20 && outcome.started_gpus == 0, "{outcome:?}");
}

/// If a device neither starts nor fails to start, the core that watches does the long block itself after a while.
#[test]
fn a_gpu_that_never_starts_does_not_hold_a_long_block_up() {
    let gpu = Gpu { start: 1e4 - 1.0, ..H200 };
    let outcome = run(&Machine::new(2, 40e6, &[gpu]), Input { blocks: 1, block: 400e6, ..Input::of(1.0) });
    assert!(outcome.end < 25.0 && outcome.by_cores == 1, "{outcome:?}");
}
