"""A run as a report: all sections, cross-checks, verdicts and the document."""
