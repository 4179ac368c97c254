"""Programs that memgauge starts, and that end with it."""
