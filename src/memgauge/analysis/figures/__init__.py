"""From a run's samples to figures: speeds, windows, regimes, summaries, drift."""
