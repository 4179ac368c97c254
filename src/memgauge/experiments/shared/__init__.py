"""What experiments share: the base class, native records, rings, mixes, counted runs."""
