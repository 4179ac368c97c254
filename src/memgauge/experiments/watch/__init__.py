"""The probe of `memgauge watch`."""
