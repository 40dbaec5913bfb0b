//! One call of the command: a pool of stations, the operands as its inputs, their results in the order of the operands.

use crate::cli::args::{Gpus, Plan};
use crate::cli::files::Operands;
use crate::cli::limits;
use crate::cli::progress::Progress;
use crate::cli::report::{Note, Outcome, Report};
use crate::cli::results::Results;
use anyhow::anyhow;
use hybz::Pool;
use hybz::flow;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Does what the plan says.
pub fn run(plan: Plan) -> anyhow::Result<Outcome> {
    let plan = Arc::new(plan);
    let report = Arc::new(Report::new(&plan, Progress::new(&plan)));
    for remark in &plan.ignored_words {
        report.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let mut pool = Pool::builder();
    if let Some(memory) = plan.memory {
        pool = pool.memory(memory);
    }
    limits::check_block_size(&plan)?;
    let no_threads = limits::no_threads(&plan);
    limits::choose_memory(&plan, no_threads);
    // The process ends with this call, and the kernel takes back what a pool holds faster than we could free it.
    let pool = ManuallyDrop::new(if no_threads {
        pool.without_cpu().build()
    } else {
        if plan.gpu_required {
            require_gpus(&plan.gpus)?;
        }
        pool = pool.threads(limits::threads(&plan)).max_memory(limits::share_of_memory());
        for lanes in limits::lanes(&plan) {
            pool = pool.gpus(&lanes);
        }
        pool.build()
    });
    Ok(run_with(plan, report, &pool, no_threads))
}

/// Has the pool do it.
fn run_with(plan: Arc<Plan>, report: Arc<Report>, pool: &Pool, no_threads: bool) -> Outcome {
    let mut results = Results::new(plan.clone(), report, pool);
    let operands = Operands::new(plan, pool);
    match no_threads {
        true => flow::run_here(pool, operands, &mut results),
        false => flow::run(pool, operands, &mut results),
    }
    results.finish(pool)
}

/// Returns an error if a GPU that is required cannot be used.
fn require_gpus(gpus: &Gpus) -> anyhow::Result<()> {
    let found = hybz::gpu::devices().and_then(|devices| match gpus {
        Gpus::These(list) => hybz::gpu::select(list, &devices),
        _ => Ok(devices),
    });
    found.map(drop).map_err(|why| anyhow!("A GPU is required: {why}."))
}
