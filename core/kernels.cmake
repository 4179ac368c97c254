# Which instruction-set files exist for the target processor, and the flags of each.
