//! Workspaces: one repository kept exactly in step with its tree.
