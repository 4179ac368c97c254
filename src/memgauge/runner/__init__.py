"""Schedule, time budget, writing of records."""
