//! What single specifications ask for beyond the engine: packs of offered sources ([`sources`]), the
//! Markdown document of a task ([`document`]), and orders of the items of a finished pack ([`order`]).
//!
//! The engine ([`indexd_pack`]) finds code and knows nothing of this crate. Everything here is a pure
//! function of its arguments: no clock, no IO, no state between calls.

pub mod document;
pub mod order;
pub mod sources;

#[cfg(test)]
mod tests {
    use indexd_api::Request;
    use indexd_api::pack::Pack;
    use indexd_model::IndexView;
    use indexd_pack::{Config, Context, Tuning};
    use indexd_text::{CounterOptions, counter};

    /// Builds a pack with the usual settings.
    pub fn build(view: &dyn IndexView, request: &Request) -> Pack {
        let (config, tuning) = (Config::default(), Tuning::default());
        let counter = counter("o200k_base", &CounterOptions::default()).expect("a known name");
        indexd_pack::build(view, request, &Context::new(&config, &tuning, &*counter)).expect("a pack")
    }
}
