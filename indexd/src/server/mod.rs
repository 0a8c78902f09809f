//! Requests over the local socket and stdio.
