//! Configuration of the daemon.
