"""What follows from a machine's topology, for planning and for reports alike."""
