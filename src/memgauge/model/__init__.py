"""What is known: records, units, errors and the run file. Imports nothing else of memgauge."""
