//! A naive in-memory index: the oracle that tests compare the real store and the real packs with.
