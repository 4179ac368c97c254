"""The analysis of the experiment `mix`."""
