"""A report as one HTML file."""
