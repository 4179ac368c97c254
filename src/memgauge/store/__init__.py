"""Figures of many runs: read from run directories, or kept in Parquet files and queried."""
