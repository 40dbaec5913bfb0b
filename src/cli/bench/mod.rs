use crate::cli::args::Plan;
use crate::cli::report::Outcome;
pub fn bench(_: Plan) -> anyhow::Result<Outcome> {
    Ok(Outcome::Exit(0))
}
