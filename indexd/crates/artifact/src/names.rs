//! Names of the model's enumerations in artifacts: the names of their variants.

use indexd_model::coded::Coded;

/// Writes a value as its name.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Coded, S: serde::Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(T::NAMES[usize::from(value.code())])
}

/// Reads a value by its name.
///
/// # Errors
/// When there is no such name.
pub fn deserialize<'de, T: Coded, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(from)?;
    let at = T::NAMES.iter().position(|known| *known == name);
    at.map(|i| T::ALL[i]).ok_or_else(|| serde::de::Error::custom(format!("{name:?} is unknown")))
}
