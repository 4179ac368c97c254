"""A run on disk: `DIR/records.jsonl`, with reports in the same directory. See docs/records.md."""

from memgauge.model.run import Run, run_of
from memgauge.model.storage.run_directory import claim_directory, run_directory
from memgauge.model.storage.run_reader import RECORDS_NAME, read_run, records_path
from memgauge.model.storage.run_writer import RunWriter

__all__ = [
    "RECORDS_NAME",
    "Run",
    "RunWriter",
    "claim_directory",
    "read_run",
    "records_path",
    "run_directory",
    "run_of",
]
