//! Words of questions about the graph and of their answers.

use crate::{JsonSchema, kinds};
use serde::{Deserialize, Serialize};

kinds! {
    /// A question about the graph.
    Relation {
        /// Its callers.
        #[default]
        Callers = "callers",
        /// Its callees.
        Callees = "callees",
        /// All its uses.
        Refs = "refs",
        /// All that depends on it, step by step; for a type, on its members too.
        Impact = "impact",
        /// Implementations and overrides of it, and those that it implements or overrides.
        Implementations = "implementations",
        /// Its users, and all that it uses.
        Around = "around",
    }

    /// A kind of edge in an answer.
    EdgeWord {
        /// The source calls the target.
        #[default]
        Call = "call",
        /// The source reads, writes or names the target.
        Usage = "usage",
        /// The source imports the target.
        Import = "import",
        /// The source exports the target, which is defined elsewhere.
        Export = "export",
        /// A value flows from source to target.
        Dataflow = "dataflow",
        /// The source has the target as base or embedded type.
        Inherit = "inherit",
        /// The source satisfies or overrides the target.
        Implement = "implement",
        /// The source calls what the target implements or overrides.
        Dispatch = "dispatch",
    }

    /// A reason for which a place of a name has no edge.
    NoEdge {
        /// A name of the language itself.
        Builtin = "builtin",
        /// Dynamic access.
        Dynamic = "dynamic",
        /// It names something outside the repository.
        External = "external",
        /// Text of a language, or of a part of it, whose uses are not resolved.
        NotFollowed = "not-followed",
        /// The name was looked up and not found.
        NotFound = "not-found",
        /// It is in source that was not understood.
        NotUnderstood = "not-understood",
        /// It is in a string.
        String = "string",
        /// The type of the receiver is not known.
        #[default]
        UnknownReceiver = "unknown-receiver",
    }
}
