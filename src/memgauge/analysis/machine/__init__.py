"""What a machine is, in tables and sentences."""
