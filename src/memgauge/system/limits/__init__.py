"""How much memory, processor time and temporary room there is."""
