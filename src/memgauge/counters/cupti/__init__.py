"""Back end `cupti`: a GPU's hardware counters."""
