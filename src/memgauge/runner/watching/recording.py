"""The record of a watch: an ordinary run whose readings are in one lane."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from memgauge.model.errors import MemgaugeError
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.records import MeasuredCurve, RunEnd, RunStart, Warning
from memgauge.model.storage.lane_writer import LaneWriter
from memgauge.model.storage.run_writer import RunWriter
from memgauge.runner.watching.sampler import SET, Row


class Recording:
    """Open from the first record to the last; a disk that fills up ends it, and not the watch."""

    def __init__(  # noqa: PLR0913 - what a first record holds
        self,
        directory: Path,
        start: RunStart,
        counters: CounterSet,
        *,
        period_s: float,
        warnings: Sequence[Warning] = (),
        curves: Sequence[MeasuredCurve] = (),
    ) -> None:
        """Write the first records.

        Args:
            directory: New or empty.
            start: First record.
            counters: The set that is sampled.
            period_s: Between two rows.
            warnings: What is not watched.
            curves: That traffic is held against.

        Raises:
            RequestError: the directory cannot hold a run.
            SystemFailure: the disk is full or failing.
        """
        self.failure: str | None = None
        """Why recording ended early."""
        self._last_ns = 0
        self._writer = RunWriter(directory)
        lane = Lane(counters=SET, file=f"{SET}.lane", interval_ns=round(period_s * 1e9))
        try:
            self._writer.write([start, counters, lane, *curves, *warnings])
            self._lane = LaneWriter(self._writer.directory / lane.file, counters.slots)
        except BaseException:
            self._writer.close()
            raise
        self._first_ns: int | None = None

    @property
    def directory(self) -> Path:
        """Of the run."""
        return self._writer.directory

    @property
    def bytes(self) -> int:
        """Written to the lane so far."""
        return self._lane.bytes

    def append(self, row: Row) -> None:
        """Add a row; once one could not be written, nothing more is."""
        if self.failure is not None:
            return
        self._first_ns = row.begin_ns if self._first_ns is None else self._first_ns
        self._last_ns = row.end_ns
        try:
            self._lane.append(row.begin_ns, row.end_ns, row.values)
        except MemgaugeError as error:
            self.failure = str(error)

    def close(
        self, status: Literal["complete", "interrupted", "failed"], reason: str | None
    ) -> None:
        """Write the last record.

        Args:
            status: How the watch ended; a record that ended early has failed.
            reason: Why, where that is worth a word.
        """
        try:
            self._lane.close()
        except MemgaugeError as error:
            self.failure = self.failure or str(error)
        if self.failure is not None and status == "complete":
            status, reason = "failed", self.failure
        elapsed_s = 0.0 if self._first_ns is None else (self._last_ns - self._first_ns) * 1e-9
        end = RunEnd(status=status, reason=reason, elapsed_s=elapsed_s, rounds=0)
        try:
            self._writer.write([end])
        except MemgaugeError as error:
            self.failure = self.failure or str(error)
        with suppress(MemgaugeError):
            self._writer.close()
