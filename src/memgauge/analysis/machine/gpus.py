"""The GPUs that a run measured, as parts of its machine."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import float_fact, number_fact, text_fact
from memgauge.analysis.section import Table
from memgauge.model.records import Point, Scalar
from memgauge.model.units import format_bytes

Facts = dict[str, Scalar]


def gpu_titles(points: Iterable[Point]) -> list[str]:
    """Each as `NVIDIA H100 (cuda:0, 0000:3b:00.0)`; or the number alone, if that is all."""
    return [_title(memory, facts) for memory, facts in _gpus(points).items()]


def with_gpus(table: Table, points: Iterable[Point]) -> Table:
    """The table of a machine, with what the driver reported about each GPU that was measured."""
    rows = [row for memory, facts in _gpus(points).items() for row in _rows(memory, facts)]
    return msgspec.structs.replace(table, rows=[*table.rows, *rows]) if rows else table


def _gpus(points: Iterable[Point]) -> dict[str, Facts]:
    """Facts by memory; of several points those of the first that tells its device."""
    found: dict[str, Facts] = {}
    for point in points:
        memory = gpu_of(point)
        if memory and not text_fact(found.get(memory, {}), "gpu"):
            found[memory] = point.actual
    return found


def _title(memory: str, facts: Facts) -> str:
    name, place = text_fact(facts, "gpu"), text_fact(facts, "gpu_bus_id")
    if not name:
        return memory
    return f"{name} ({', '.join(filter(None, (memory, place)))})"


def _rows(memory: str, facts: Facts) -> list[list[str | float | int | bool | None]]:
    name = text_fact(facts, "gpu")
    if not name:
        return []
    rate = float_fact(facts, "theoretical_bytes_per_s")
    versions = [text_fact(facts, "cuda"), text_fact(facts, "compiler")]
    known = [
        (f"GPU {memory}", ", ".join([name, *_size(facts)])),
        (f"{memory} is", ", ".join(filter(None, _identity(facts)))),
        (
            f"{memory} theoretical bandwidth",
            "not reported by the driver" if rate is None else f"{rate / 1e9:.1f} GB/s",
        ),
        (f"{memory} driver", ", ".join(filter(None, [f"CUDA {versions[0]}", versions[1]]))),
    ]
    return [[what, found] for what, found in known]


def _size(facts: Facts) -> list[str]:
    many, memory = number_fact(facts, "multiprocessors"), number_fact(facts, "memory_bytes")
    cache, ecc = number_fact(facts, "l2_bytes"), facts.get("ecc")
    known = [
        f"compute capability {text_fact(facts, 'compute')}" if facts.get("compute") else "",
        f"{many} multiprocessors" if many else "",
        f"{format_bytes(memory)} of memory" if memory else "",
        f"L2 {format_bytes(cache)}" if cache else "",
        {True: "ECC on", False: "ECC off"}.get(ecc, "") if isinstance(ecc, bool) else "",
        "a MIG instance" if facts.get("mig") is True else "",
    ]
    return [part for part in known if part]


def _identity(facts: Facts) -> tuple[str, str]:
    return text_fact(facts, "gpu_bus_id"), text_fact(facts, "gpu_uuid")
