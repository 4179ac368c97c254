import math
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.levels import find_levels, partition, penalty_of
from memgauge.analysis.workingset.claims import Claim, Finding, compare

KIB, MIB = 1 << 10, 1 << 20
ZEN4 = [Claim("L1", 32 * KIB), Claim("L2", MIB), Claim("L3", 32 * MIB)]
ZEN4_NS = [1.09, 3.8, 13.0, 155.0]


def footprints(largest: int = 128 * MIB) -> list[int]:
    octaves = range(int(math.log2(largest / (4 * KIB))))
    sizes = [4 * KIB * 2**octave * step // 4 for octave in octaves for step in (4, 5, 6, 7)]
    return [*sizes, largest]


def curve(  # noqa: PLR0917
    capacities: Sequence[int],
    latencies: Sequence[float],
    noise: float = 0.01,
    tlb_ns: float = 0.0,
    largest: int = 128 * MIB,
    seed: int = 1,
    power: float = 2.0,
) -> list[tuple[int, float]]:
    """Random walk over caches: beyond a level's size, the share it holds falls with a power."""
    rng = random.Random(seed)
    points = []
    for size in footprints(largest):
        held, ns = 0.0, 0.0
        for capacity, latency in zip(capacities, latencies, strict=False):
            share = max(held, min(1.0, (capacity / size) ** power))
            ns += (share - held) * latency
            held = share
        ns += (1 - held) * latencies[len(capacities)]
        ns += tlb_ns * max(0.0, 1 - 1536 * KIB / size)
        points.append((size, ns * math.exp(rng.gauss(0, noise))))
    return points


def statuses(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.name, finding.status) for finding in findings]


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("tlb_ns", [0.0, 6.0])
@pytest.mark.parametrize("seed", range(5))
def test_three_caches_and_memory_are_found(noise: float, tlb_ns: float, seed: int) -> None:
    points = curve([32 * KIB, MIB, 32 * MIB], ZEN4_NS, noise, tlb_ns, 256 * MIB, seed)
    levels = find_levels(points)
    assert [level.fits_bytes for level in levels[:3]] == [32 * KIB, MIB, 32 * MIB]
    # Random replacement leaves 64% of hits at 1.25 times the size: the edge may lie one step on.
    for level, bytes_ in zip(levels, (32 * KIB, MIB, 32 * MIB), strict=False):
        assert bytes_ <= level.capacity_low_bytes <= 1.25 * bytes_
        assert level.capacity_high_bytes is not None
        assert level.capacity_low_bytes < level.capacity_high_bytes <= 1.5 * bytes_
    assert levels[3].capacity_bytes is None
    for level, latency in zip(levels[:2], ZEN4_NS, strict=False):
        assert level.latency_ns == pytest.approx(latency, rel=0.15)
    assert statuses(compare(levels, ZEN4, 256 * MIB)) == [
        ("L1", "agrees"),
        ("L2", "agrees"),
        ("L3", "agrees"),
        ("memory", "memory"),
    ]


@pytest.mark.parametrize(
    ("power", "noise", "seeds", "least"),
    [(50.0, 0.08, 20, 19), (1.0, 0.0, 1, 1), (1.0, 0.04, 20, 18)],
)
def test_sharp_and_gradual_levels_are_found_beside_noise(
    power: float, noise: float, seeds: int, least: int
) -> None:
    """Gradual: hits are capacity over footprint, so that only the nearest level has a plateau."""
    caches = [32 * KIB, MIB, 32 * MIB]
    found = 0
    for seed in range(seeds):
        levels = find_levels(curve(caches, ZEN4_NS, noise, 0.0, 256 * MIB, seed, power))
        ends = [level.capacity_bytes for level in levels]
        found += (
            len(ends) == 4
            and ends[3] is None
            and all(
                end is not None and bytes_ / 1.6 <= end <= 1.6 * bytes_
                for end, bytes_ in zip(ends, caches, strict=False)
            )
        )
    assert found >= least


@pytest.mark.parametrize("tlb_ns", [6.0, 20.0])
def test_translation_moves_no_gradual_level(tlb_ns: float) -> None:
    points = curve([32 * KIB, MIB, 32 * MIB], ZEN4_NS, 0.01, tlb_ns, 256 * MIB, power=1.0)
    assert dict(statuses(compare(find_levels(points), ZEN4, 256 * MIB)))["L3"] == "agrees"


def test_a_virtual_machines_share_of_the_last_level_is_smaller() -> None:
    levels = find_levels(curve([32 * KIB, MIB, 6 * MIB], ZEN4_NS))
    finding = compare(levels, ZEN4, 128 * MIB)[2]
    assert (finding.name, finding.status, finding.claimed_bytes) == ("L3", "smaller", 32 * MIB)
    assert finding.level is not None
    assert finding.level.capacity_bytes == 6 * MIB


def test_a_level_that_the_topology_hides_is_found() -> None:
    levels = find_levels(curve([32 * KIB, MIB, 16 * MIB], ZEN4_NS))
    assert statuses(compare(levels, ZEN4[:2], 128 * MIB)) == [
        ("L1", "agrees"),
        ("L2", "agrees"),
        ("unnamed", "hidden"),
        ("memory", "memory"),
    ]


def test_a_claimed_level_that_the_curve_does_not_show_is_said() -> None:
    levels = find_levels(curve([32 * KIB, MIB], [1.09, 3.8, 150.0]))
    assert statuses(compare(levels, ZEN4, 128 * MIB)) == [
        ("L1", "agrees"),
        ("L2", "agrees"),
        ("L3", "not visible"),
        ("memory", "memory"),
    ]


def test_a_curve_cut_short_does_not_deny_what_it_did_not_reach() -> None:
    points = [p for p in curve([32 * KIB, MIB, 32 * MIB], ZEN4_NS) if p[0] <= 8 * MIB]
    found = statuses(compare(find_levels(points), ZEN4, 8 * MIB))
    assert found[:2] == [("L1", "agrees"), ("L2", "agrees")]
    assert all(status == "end not seen" for _, status in found[2:])


def test_a_transition_is_no_level() -> None:
    """From 1 MiB on the latency rises evenly by a third each step: nowhere a plateau."""
    points = [(size, 4.0 * max(1.0, size / MIB) ** 1.2) for size in footprints(64 * MIB)]
    levels = find_levels(points)
    assert len(levels) == 1
    assert MIB <= levels[0].capacity_low_bytes < 1.3 * MIB


def test_translation_is_no_level() -> None:
    flat_but_for_tlb = curve([], [100.0], 0.01, tlb_ns=40.0)
    assert len(find_levels(flat_but_for_tlb)) == 1


def test_a_level_that_loses_some_lines_early_ends_where_most_are_lost() -> None:
    """Latencies of a busy machine: from 448 KiB on a neighbour takes some lines of 1 MiB of L2."""
    kib_ns = [
        *[(size, 1.08) for size in (4, 8, 12, 16, 20, 24, 28, 32, 40)],
        *[(48, 1.4), (56, 3.79), (64, 3.79), (80, 3.78), (96, 3.78), (112, 3.81), (128, 3.8)],
        *[(160, 3.79), (192, 3.76), (224, 3.82), (256, 3.77), (320, 3.78), (384, 3.87)],
        *[(448, 4.24), (512, 5.01), (640, 6.29), (768, 8.01), (896, 10.76), (1024, 9.22)],
        *[(1280, 38.11), (1536, 48.48), (1792, 79.56), (2048, 65.01), (2560, 75.16)],
        *[(3072, 86.59), (3584, 76.19), (4096, 99.99), (5120, 119.17), (6144, 127.84)],
        *[(8192, 139.31), (12288, 137.17), (16384, 145.95), (24576, 148.73), (32768, 154.69)],
    ]
    levels = find_levels([(size * KIB, ns) for size, ns in kib_ns])
    assert [level.capacity_bytes for level in levels] == [48 * KIB, MIB, None]
    assert [level.fits_bytes for level in levels[:2]] == [40 * KIB, 448 * KIB]
    claims = [Claim("L1", 48 * KIB), Claim("L2", MIB), Claim("L3", 32 * MIB)]
    assert statuses(compare(levels, claims, 128 * MIB)) == [
        ("L1", "agrees"),
        ("L2", "agrees"),
        ("L3", "not visible"),
        ("memory", "memory"),
    ]


@given(st.floats(0.01, 100), st.integers(0, 1000))
def test_scaling_latency_moves_no_capacity(scale: float, seed: int) -> None:
    points = curve([32 * KIB, MIB, 6 * MIB], ZEN4_NS, 0.02, seed=seed)
    scaled = [(size, ns * scale) for size, ns in points]
    ends = [(lv.capacity_low_bytes, lv.capacity_high_bytes) for lv in find_levels(points)]
    assert ends == [(lv.capacity_low_bytes, lv.capacity_high_bytes) for lv in find_levels(scaled)]


@given(st.lists(st.tuples(st.integers(-5, 1 << 40), st.floats(-1, 1e9)), max_size=40))
def test_any_curve_gives_levels_in_order(points: list[tuple[int, float]]) -> None:
    levels = find_levels(points)
    for nearer, further in pairwise(levels):
        assert nearer.first_bytes <= nearer.capacity_low_bytes < further.capacity_low_bytes
    compare(levels, ZEN4, max([1, *(size for size, _ in points)]))


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=9), st.floats(0.01, 3))
def test_partition_is_the_best_of_all(values: list[float], penalty: float) -> None:
    def cost(pieces: list[tuple[int, int]]) -> float:
        total = 0.0
        for begin, end in pieces:
            mean = sum(values[begin:end]) / (end - begin)
            total += penalty + sum((value - mean) ** 2 for value in values[begin:end])
        return total

    count = len(values)
    every = []
    for bits in range(1 << (count - 1)):
        cuts = [0, *(i + 1 for i in range(count - 1) if bits >> i & 1), count]
        every.append(list(pairwise(cuts)))
    found = partition(values, penalty)
    assert [found[0][0], found[-1][1]] == [0, count]
    assert all(left[1] == right[0] for left, right in pairwise(found))
    assert cost(found) == pytest.approx(min(map(cost, every)), abs=1e-9)


def test_partition_agrees_with_ruptures() -> None:
    ruptures = pytest.importorskip("ruptures")
    numpy = pytest.importorskip("numpy")
    for seed in range(5):
        logs = [math.log(ns) for _, ns in curve([32 * KIB, MIB, 6 * MIB], ZEN4_NS, 0.03, seed=seed)]
        penalty = penalty_of(logs)
        oracle = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(numpy.array(logs))
        assert oracle.predict(pen=penalty) == [end for _, end in partition(logs, penalty)]


def test_a_cache_of_few_footprints_cannot_be_judged() -> None:
    """A short survey may measure two footprints between the end of L2 and that of L3."""
    points = curve([32 * KIB, MIB], ZEN4_NS, largest=256 * MIB)
    levels = find_levels(points)
    sizes = [size for size, _ in points]
    few = [size for size in sizes if not MIB < size <= 24 * MIB]
    found = statuses(compare(levels, ZEN4, 256 * MIB, footprints=sizes))
    assert ("L3", "not visible") in found
    found = statuses(compare(levels, ZEN4, 256 * MIB, footprints=few))
    assert ("L3", "too coarse") in found
