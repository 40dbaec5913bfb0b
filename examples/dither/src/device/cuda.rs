//! not yet
/// Not yet.
pub fn crews() -> Result<Vec<hybz::schedule::Crew<crate::work::DitherJob>>, String> {
    Err(String::new())
}
