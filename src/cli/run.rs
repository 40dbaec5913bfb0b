//! One call of the command: a pool of stations, the operands as its inputs, their results in the order of the operands.

use crate::cli::account::Account;
use crate::cli::args::{Gpus, Plan};
use crate::cli::files::Operands;
use crate::cli::limits;
use crate::cli::progress::Progress;
use crate::cli::quote::shown;
use crate::cli::report::{Note, Outcome, Report, errno_text};
use crate::cli::results::Results;
use crate::cli::supply::Supply;
use anyhow::{anyhow, bail};
use hybz::Pool;
use hybz::flow;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread;

/// Does what the plan says.
pub fn run(plan: Plan) -> anyhow::Result<Outcome> {
    let plan = Arc::new(plan);
    let account = account(&plan)?;
    let report = Arc::new(Report::new(&plan, Progress::new(&plan)).with_account(account));
    let closing = Closing(Arc::clone(&report));
    let outcome = work(plan, report);
    if let Err(error) = &outcome
        && let Some(account) = &closing.0.account
    {
        account.failed(1, format!("{error:#}").as_bytes());
    }
    outcome
}

/// The report that the plan asks for, if it does.
fn account(plan: &Plan) -> anyhow::Result<Option<Account>> {
    let Some(place) = &plan.report else { return Ok(None) };
    let name = shown(place.name());
    match Account::open(plan, place) {
        Ok(account) => Ok(Some(account)),
        Err(e) if e.kind() == io::ErrorKind::InvalidData => {
            bail!("File {} is not a report: nothing is appended to it.", name.display())
        }
        Err(e) => bail!("Can't open report {}: {}.", name.display(), errno_text(&e)),
    }
}

/// Ends the report, whatever ends the work.
struct Closing(Arc<Report>);

impl Drop for Closing {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.raise(3);
        }
        self.0.close(None, false);
    }
}

fn work(plan: Arc<Plan>, report: Arc<Report>) -> anyhow::Result<Outcome> {
    for remark in &plan.ignored_words {
        report.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let supply = match Supply::new(&plan, &report) {
        Ok(supply) => supply,
        Err(failure) => {
            report.print(&Note::Failure(failure));
            return Ok(Outcome::Exit(report.code()));
        }
    };
    let mut results = Results::new(plan.clone(), report.clone())?;
    let mut pool = Pool::builder();
    if let Some(memory) = plan.memory {
        pool = pool.memory(memory);
    }
    limits::check_block_size(&plan)?;
    let no_threads = limits::no_threads(&plan);
    limits::choose_memory(&plan, no_threads);
    // The process ends with this call, and the kernel takes back what a pool holds faster than we could free it.
    let pool = ManuallyDrop::new(if no_threads {
        let pool = pool.without_cpu().build();
        flow::run_here(&pool, Operands::new(plan, report, supply, &pool), &mut results);
        pool
    } else {
        if plan.gpu_required {
            require_gpus(&plan.gpus)?;
        }
        pool = pool.threads(limits::threads(&plan)).max_memory(limits::share_of_memory());
        for lanes in limits::lanes(&plan) {
            pool = pool.gpus(&lanes);
        }
        let pool = pool.build();
        flow::run(&pool, Operands::new(plan, report, supply, &pool), &mut results);
        pool
    });
    Ok(results.finish(&pool))
}

/// Returns an error if a GPU that is required cannot be used.
fn require_gpus(gpus: &Gpus) -> anyhow::Result<()> {
    let found = hybz::gpu::devices().and_then(|devices| match gpus {
        Gpus::These(list) => hybz::gpu::select(list, &devices),
        _ => Ok(devices),
    });
    found.map(drop).map_err(|why| anyhow!("A GPU is required: {why}."))
}
