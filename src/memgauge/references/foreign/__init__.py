"""Output files of other memory tools, read as data sets that stand beside runs."""
