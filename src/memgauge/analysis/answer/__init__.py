"""What a survey answers first: the key figures, how good the run is, and what to do next."""
