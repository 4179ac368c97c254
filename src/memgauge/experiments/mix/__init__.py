"""The experiment `mix`."""
