"""The analysis of `counters compare`: two ways to the same counters."""
