"""What the machine is and what is possible on it."""
