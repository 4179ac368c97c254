"""Watches memory for as long as wanted: the sampler, the probe, and the record of a watch."""
