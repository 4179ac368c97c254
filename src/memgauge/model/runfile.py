"""A run on disk: `DIR/records.jsonl`, beside which reports are written. See docs/records.md."""

from memgauge.model.run import Run, run_of
from memgauge.model.runreader import RECORDS_NAME, read_run, records_path
from memgauge.model.runwriter import RunWriter, default_directory

__all__ = [
    "RECORDS_NAME",
    "Run",
    "RunWriter",
    "default_directory",
    "read_run",
    "records_path",
    "run_of",
]
