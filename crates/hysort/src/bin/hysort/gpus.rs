//! The GPUs that help with a call.

use crate::args::{Gpus, Plan};
use crate::failure::Failure;
use hybz_gpu::{self as gpu, Shown};
use hysort::{LineLanes, Summary};

/// Hides the GPUs that this call will not use, and all but the first if it does not name any: CUDA takes a quarter of a
/// second to start each one that it sees. With one, two and four H200s, 4 GB of words took 1.53, 1.80 and 2.23 s, 12 GB
/// 3.53, 3.45 and 3.69, 24 GB 10.5, 10.5 and 10.3. Works only before there are other threads.
pub fn hide(plan: &Plan) {
    match &plan.gpus {
        Gpus::Visible if !plan.gpu_required => gpu::show_only(Shown::First(1)),
        Gpus::These(list) => gpu::show_only(Shown::These(list)),
        _ => (),
    }
}

/// The lanes that may help, if any. The pool starts them when the work left is worth it, or with the first range if
/// GPUs are required.
pub fn lanes(plan: &Plan, memory: u64) -> Result<Option<LineLanes>, Failure> {
    let devices = match &plan.gpus {
        Gpus::None => return Ok(None),
        Gpus::Visible => None,
        Gpus::These(list) => Some(list.clone()),
    };
    if plan.gpu_required {
        let found = gpu::devices().and_then(|found| match &devices {
            Some(list) => gpu::select(list, &found),
            None => Ok(found),
        });
        found.map_err(|why| Failure::sentence(format!("a GPU is required: {why}")))?;
    }
    // A lane pins twice the text of a batch, and its answers take as much as the text: lanes get half of the memory.
    let lanes = LineLanes { devices, at_once: plan.gpu_required, ..LineLanes::default() };
    let room = usize::try_from(memory / 2 / (3 * lanes.bytes as u64)).unwrap_or(usize::MAX);
    match lanes.lanes.min(room) {
        0 if plan.gpu_required => Err(Failure::sentence(format!(
            "a GPU is required, and its lanes want {} MB of memory",
            (6 * lanes.bytes) >> 20
        ))),
        0 => Ok(None),
        count => Ok(Some(LineLanes { lanes: count, ..lanes })),
    }
}

/// The message about lanes that failed, whose work cores have done.
pub fn trouble(plan: &Plan, summary: &Summary) -> Option<String> {
    let asked = plan.gpu_required || matches!(plan.gpus, Gpus::These(_));
    let lanes = summary.stations.iter().filter(|station| station.accelerator);
    let mut failed = lanes.filter_map(|lane| {
        let why = lane.retired.as_ref().or(lane.failure.as_ref())?;
        // A missing device that was not requested is not reported.
        (asked || lane.blocks > 0 || lane.fallbacks > 0)
            .then(|| format!("{} failed, and the CPU did its work: {why}", lane.name))
    });
    failed.next()
}
