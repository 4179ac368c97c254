"""Diagnoses of programs whose answers are known."""
