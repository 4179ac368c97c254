"""Published measurements, shipped as data with their sources."""
