"""Settings of the whole machine that are changed for single runs, and put back after each."""
