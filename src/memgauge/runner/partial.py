"""Warnings of a run about sums of counters that lack controllers."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.model.counting.partial import once
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import AnyRecord, Warning

LEFT_OUT = "controllers-left-out"


def partial_warnings(records: Iterable[AnyRecord]) -> list[Warning]:
    """One for each sum of counter sets that lacks controllers.

    Args:
        records: Records that are written together; only counter sets are looked at.
    """
    sets = [record for record in records if isinstance(record, CounterSet)]
    return [
        Warning(
            code=LEFT_OUT, message=one.text, remedy="read the sum as less than the true traffic"
        )
        for one in once(partial for one in sets for partial in one.partial)
    ]
