"""Surveys of many nodes under an MPI launcher: who leads, what is gathered, what is kept."""
