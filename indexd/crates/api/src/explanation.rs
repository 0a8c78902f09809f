//! Explanations of scores: trees of values in which each value is computed from its parts.

use crate::JsonSchema;
use crate::pack::Word;
use serde::{Deserialize, Serialize};

/// A value and its parts. The value of a sum or a product equals that of its parts, added or multiplied in
/// order, to the bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Explanation {
    /// What the value is.
    pub name: Word,
    /// The value.
    pub value: f64,
    /// How the parts make the value; absent for a value that is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Rule>,
    /// The parts; those of a sum that are zero are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<Explanation>,
}

/// How the parts of an explanation make its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Rule {
    /// They are added.
    Sum,
    /// They are multiplied.
    Product,
    /// The least of them.
    Least,
}

impl Explanation {
    /// A value that is given.
    pub fn leaf(name: &'static str, value: f64) -> Self {
        Self { name: name.into(), value, by: None, of: Vec::new() }
    }

    /// A sum.
    pub fn sum(name: &'static str, of: Vec<Self>) -> Self {
        // Adding zero changes nothing.
        let of: Vec<Self> = of.into_iter().filter(|x| x.value != 0.0).collect();
        Self { name: name.into(), value: Rule::Sum.of(&of), by: Some(Rule::Sum), of }
    }

    /// A product.
    pub fn product(name: &'static str, of: Vec<Self>) -> Self {
        Self { name: name.into(), value: Rule::Product.of(&of), by: Some(Rule::Product), of }
    }

    /// The least of several values.
    pub fn least(name: &'static str, of: Vec<Self>) -> Self {
        Self { name: name.into(), value: Rule::Least.of(&of), by: Some(Rule::Least), of }
    }

    /// Returns true if every value is that of its parts, to the bit.
    pub fn adds_up(&self) -> bool {
        self.by.is_none_or(|rule| rule.of(&self.of).to_bits() == self.value.to_bits())
            && self.of.iter().all(Self::adds_up)
    }
}

impl Rule {
    fn of(self, parts: &[Explanation]) -> f64 {
        let values = parts.iter().map(|x| x.value);
        match self {
            Self::Sum => values.fold(0.0, |a, b| a + b),
            Self::Product => values.fold(1.0, |a, b| a * b),
            Self::Least => values.fold(f64::INFINITY, f64::min),
        }
    }
}
