"""A GPU's memory on the timeline: tracks of its own, never added to the host's memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.analysis.profile.runs import MS, Made, S, counter, every, profile, reads, sampled

from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.model.counting.events import Counter

if TYPE_CHECKING:
    from tests.unit.model.storage.lanes import Sample

LOSSES = 2


def of_gpu(device: int, direction: str, slot: int) -> Counter:
    return counter(
        f"cupti:{device}/dram_{direction}@GPU {device} 0000:3b:00.0",
        slot,
        quantity=f"{direction}_bytes",
        domain="gpu",
        scope="device",
        scale=1.0,
        socket=None,
        traffic=f"gpu{device}",
        generation_slot=LOSSES,
    )


def timeline(directory: Path, *lanes: Made) -> Timeline:
    made, _ = timeline_of(profile(directory, *lanes))
    assert made is not None
    return made


def gpu_lane(direction_rates: tuple[float, float], lost_at: int | None = None) -> Made:
    counters = [of_gpu(0, "read", 0), of_gpu(0, "write", 1)]
    rates = [lambda _, rate=rate: rate for rate in direction_rates]
    samples: list[Sample] = []
    for at, (begin, end, *values) in enumerate(sampled(rates, counters, every(50 * MS, S))):
        lost = lost_at is not None and at >= lost_at
        samples.append([begin, end, *([None, None] if at == lost_at else values), int(lost)])
    return Made(counters, samples, interval_ns=50 * MS, name="gpu-cupti", slots=3)


def test_device_memory_has_tracks_of_its_own_and_is_no_memory_of_the_host(tmp_path: Path) -> None:
    host = Made([reads(0)], sampled([lambda _: 1e6], [reads(0)], every(10 * MS, S)))
    made = timeline(tmp_path, host, gpu_lane((2e9, 1e9)))
    tracks = {traced.track.name: traced for traced in made.tracks}
    assert list(tracks) == [
        "memory read, socket 0",
        "GPU memory read, GPU 0 0000:3b:00.0",
        "GPU memory write, GPU 0 0000:3b:00.0",
    ]
    panels = {traced.track.panel for traced in made.tracks}
    assert panels == {"memory traffic, socket 0", "GPU memory traffic, GPU 0 0000:3b:00.0"}
    device = tracks["GPU memory read, GPU 0 0000:3b:00.0"]
    assert device.track.unit == "B/s"
    assert device.total(0, made.bins) == pytest.approx(2e9, rel=1e-6)
    roles = roles_of(made)
    assert [traced.track.name for traced in roles.reads] == ["memory read, socket 0"]
    assert roles.writes == []


def test_a_gpu_alone_is_no_memory_traffic_of_a_phase(tmp_path: Path) -> None:
    roles = roles_of(timeline(tmp_path, gpu_lane((2e9, 1e9))))
    assert (roles.reads, roles.writes, roles.traffic) == ([], [], [])


def test_lost_samples_are_a_gap_and_not_a_low_rate(tmp_path: Path) -> None:
    made = timeline(tmp_path, gpu_lane((2e9, 1e9), lost_at=10))
    device = made.tracks[0]
    known = [value for value in made.values(device) if value is not None]
    assert None in made.values(device)
    assert known == pytest.approx([2e9] * len(known), rel=1e-6)
