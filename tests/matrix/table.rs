//! `docs/FAULTS.md`: the number of scenarios that each program failed, and how it failed them.

use crate::scenario::{Outcome, Scenario};
use std::fmt::Write;

/// The outcomes of all scenarios, with hybz first.
pub struct Table {
    programs: Vec<String>,
    rows: Vec<(Scenario, Vec<Option<Outcome>>)>,
}

impl Table {
    pub fn new(peers: &[String]) -> Table {
        let programs = std::iter::once("hybz".to_owned()).chain(peers.iter().cloned()).collect();
        Table { programs, rows: Vec::new() }
    }

    pub fn add(&mut self, scenario: &Scenario, outcomes: Vec<Option<Outcome>>) {
        self.rows.push((scenario.clone(), outcomes));
    }

    pub fn text(&mut self) -> String {
        self.rows.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        let (mut counts, mut failures) = (String::new(), String::new());
        self.counts(&mut counts);
        self.failures(&mut failures);
        include_str!("page.md.in").replace("@COUNTS@\n", &counts).replace("@FAILURES@\n", &failures)
    }

    fn heading(&self, text: &mut String, first: &str) {
        let _ = writeln!(text, "| {first} | {} |", self.programs.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(self.programs.len()));
    }

    /// Failed / run, by section and program.
    fn counts(&self, text: &mut String) {
        let mut sections: Vec<&str> = self.rows.iter().map(|(scenario, _)| scenario.section()).collect();
        sections.dedup();
        self.heading(text, "section");
        for section in sections.iter().copied().map(Some).chain([None]) {
            let rows: Vec<_> =
                self.rows.iter().filter(|(s, _)| section.is_none_or(|name| s.section() == name)).collect();
            let cells = (0..self.programs.len()).map(|program| {
                let outcomes = rows.iter().filter_map(|(_, outcomes)| outcomes[program].as_ref());
                let run = outcomes.clone().filter(|outcome| !matches!(outcome, Outcome::Skipped(_))).count();
                let failed = outcomes.filter(|outcome| matches!(outcome, Outcome::Wrong(_))).count();
                format!("{failed} of {run}")
            });
            let _ = writeln!(text, "| {} | {} |", section.unwrap_or("all"), cells.collect::<Vec<_>>().join(" | "));
        }
    }

    /// The scenarios in which a program failed, and how.
    fn failures(&self, text: &mut String) {
        self.heading(text, "scenario: expected");
        for (scenario, outcomes) in &self.rows {
            if !outcomes.iter().flatten().any(|outcome| matches!(outcome, Outcome::Wrong(_))) {
                continue;
            }
            let cells: Vec<String> = outcomes.iter().map(cell).collect();
            let _ = writeln!(text, "| {}: {} | {} |", scenario.name, escape(&scenario.expected), cells.join(" | "));
        }
    }
}

fn cell(outcome: &Option<Outcome>) -> String {
    match outcome {
        None => "-".to_owned(),
        Some(Outcome::Right) => "right".to_owned(),
        Some(Outcome::Skipped(_)) => "not run".to_owned(),
        Some(Outcome::Wrong(got)) => escape(&got.chars().take(160).collect::<String>()),
    }
}

fn escape(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('|', "\\|")
}
