"""Jobs of several ranks, each with a run of its own: one time for all, and what differs."""
