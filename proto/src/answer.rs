//! How results are declared: each says what it is and in which version of its shape, and most say how the
//! answer came about.

/// Version of the shape of all results declared here; additions keep it.
pub const VERSION: &str = "1.0.0";

/// Declares results. `NAME("schema", envelope) { .. }` ends with an [`Envelope`](crate::workspace::Envelope).
macro_rules! answer {
    ($($(#[$meta:meta])* $name:ident($schema:literal $(, $envelope:ident)?) {
        $($(#[$of:meta])* $member:ident: $type:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            #[doc = concat!("Always `", $schema, "`.")]
            pub schema: String,
            /// Version of this object's shape; additions keep it.
            pub schema_version: String,
            $($(#[$of])* pub $member: $type,)*
            $(
                /// How the answer came about.
                pub $envelope: $crate::workspace::Envelope,
            )?
        }

        impl Default for $name {
            /// An answer that says what it is and holds nothing yet.
            fn default() -> Self {
                Self {
                    schema: $schema.to_owned(),
                    schema_version: $crate::answer::VERSION.to_owned(),
                    $($member: Default::default(),)*
                    $($envelope: Default::default(),)?
                }
            }
        }
    )*};
}
pub(crate) use answer;
