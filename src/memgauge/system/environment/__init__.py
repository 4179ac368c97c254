"""What the machine does, runs and permits beside the measurement."""
