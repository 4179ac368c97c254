"""Runs of `transfers` made by formula: curves of Hockney's, with noise."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.model.records import AnyRecord, Point, Sample, ThreadSample
from memgauge.model.run import Run, run_of
from memgauge.model.units import bytes_text

KIB, MIB = 1 << 10, 1 << 20
SIZES = [KIB << step for step in range(0, 19, 2)]

PLACE: dict[str, object] = {
    "link": "16 GT/s x16, 128b/130b",
    "link_bytes_per_s": 31.5e9,
    "link_read": "while transfers ran",
    "link_max": "16 GT/s x16, 128b/130b",
    "link_max_bytes_per_s": 31.5e9,
    "gpu_node": 0,
    "node": 0,
    "pages": "4k",
}

Speed = Callable[[int], float]
"""GB/s by bytes of one transfer."""


def hockney(r_inf: float, half: float) -> Speed:
    return lambda size: r_inf * size / (size + half)


def point(
    size: int,
    direction: str,
    *,
    host: str = "pinned",
    peer: str = "",
    leader: str | None = None,
    at_once: bool = False,
    actual: Mapping[str, object] | None = None,
) -> Point:
    end = f"peer-{peer.partition(':')[2]}" if peer else host
    name = f"transfers/{end}/{direction}/{bytes_text(size)}"
    if at_once:
        both = "both-peers" if peer else "both"
        name = f"transfers/{end}/{both}/{bytes_text(size)}/{direction}"
    return bandwidth_point(
        name,
        experiment="transfers",
        bytes_counted=size,
        bytes_moved=size,
        work="window" if at_once else "fixed",
        measured_with=leader,
        requested={
            "memory": "cuda:0",
            "host": host if not peer else None,
            "peer": peer or None,
            "direction": direction,
            "at_once": at_once,
            "transfer_bytes": size,
            "host_memory": None if peer else "dram",
        },
        actual={**PLACE, **(actual or {})},
    )


def both(size: int, speeds: Sequence[float], points: Sequence[Point], round_: int) -> list[Sample]:
    """A visit of four iterations each way, both beginning at once."""
    threads = []
    for speed in speeds:
        took = max(1, round(size / speed))
        begins = [1000 + at * took for at in range(4)]
        threads.append(
            ThreadSample(cpu=0, begin_ns=begins, end_ns=[begin + took for begin in begins])
        )
    window = (1000, min(thread.end_ns[-1] for thread in threads))
    return [
        Sample(point=one.point, round=round_, threads=[thread], window_ns=window)
        for one, thread in zip(points, threads, strict=True)
    ]


def transfers_run(
    curves: Mapping[tuple[str, str], Speed],
    *,
    at_once: Mapping[str, Callable[[int], tuple[float, float]]] | None = None,
    sizes: Sequence[int] = SIZES,
    rounds: int = 60,
    noise: float = 0.003,
    seed: int = 7,
    actual: Mapping[str, object] | None = None,
    of: object = None,
) -> Run:
    """`curves` by end and direction; an end is pinned, pageable or a peer such as cuda:1."""
    rng = random.Random(seed)
    singles: list[tuple[Point, Speed, int]] = []
    pairs: list[tuple[list[Point], Callable[[int], tuple[float, float]], int]] = []
    for (end, direction), speed in curves.items():
        kept: dict[str, Any] = {"peer": end} if end.startswith("cuda:") else {"host": end}
        singles += [(point(size, direction, actual=actual, **kept), speed, size) for size in sizes]
    for end, speeds in (at_once or {}).items():
        kept = {"peer": end} if end.startswith("cuda:") else {"host": end}
        words = ("to-peer", "from-peer") if "peer" in kept else ("host-to-device", "device-to-host")
        for size in sizes:
            first = point(size, words[0], at_once=True, actual=actual, **kept)
            second = point(size, words[1], at_once=True, leader=first.point, actual=actual, **kept)
            pairs.append(([first, second], speeds, size))
    records: list[AnyRecord] = [start(of or system())]  # type: ignore[arg-type]
    records += [one for one, _, _ in singles]
    records += [one for two, _, _ in pairs for one in two]
    for round_ in range(rounds):
        for one, speed, size in singles:
            records.append(sample_of(one, speed(size) * rng.gauss(1, noise), round_))
        for two, speeds_of, size in pairs:
            records += both(size, [s * rng.gauss(1, noise) for s in speeds_of(size)], two, round_)
    return run_of(records)
