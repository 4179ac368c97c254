"""Surveys of many nodes under an MPI launcher: roles of ranks, gathered results, stored files."""
