"""Memory opened for a run, page sizes, and reserved huge pages."""
