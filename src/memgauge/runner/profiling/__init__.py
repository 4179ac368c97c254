"""One profile: watch a program, read counters beside it, record."""
