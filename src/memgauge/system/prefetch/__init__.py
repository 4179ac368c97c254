"""Hardware prefetchers of the processor: which can be switched off, and switching them."""
