"""The probe of a watch: its size, its bytes, and one real pass."""

import pytest

from memgauge.experiments.watch.probe import (
    BUFFER_BYTES,
    LEAST_RING_BYTES,
    MOST_RING_BYTES,
    Probe,
    are_too_many,
    bytes_per_pass,
    ring_bytes,
)
from memgauge.model.errors import RequestError
from memgauge.system.detect import detect

GIB = 1 << 30


def test_the_ring_is_larger_than_the_cache_within_limits() -> None:
    assert ring_bytes(0, 64 * GIB) == LEAST_RING_BYTES
    assert ring_bytes(100 << 20, 64 * GIB) == 200 << 20
    assert ring_bytes(GIB, 64 * GIB) == MOST_RING_BYTES
    assert ring_bytes(100 << 20, GIB) == 64 << 20, "a sixteenth of what is available"


def test_no_room_is_refused_in_one_line() -> None:
    with pytest.raises(RequestError, match=r"16 MiB of memory are available, too few .*--no-probe"):
        ring_bytes(0, 16 << 20)


def test_a_pass_reads_what_the_documentation_says() -> None:
    assert bytes_per_pass() == pytest.approx(4.7e6, rel=0.02)
    assert bytes_per_pass() < BUFFER_BYTES / 8, "what a pass reads, later ones do not find cached"


@pytest.mark.parametrize(
    ("in_walk", "in_burst", "too_many"),
    [(0, 0, False), (2, 1, False), (3, 0, True), (0, 2, True)],
)
def test_interruptions_that_median_and_best_bear_cost_no_pass(
    in_walk: int, in_burst: int, *, too_many: bool
) -> None:
    assert are_too_many(in_walk, in_burst) == too_many


@pytest.mark.native
def test_a_pass_gives_figures() -> None:
    system = detect()
    with Probe(system.allowed_cpus[-1], system) as probe:
        found = probe.run()
    assert found.chase_ns > 400 * 0.2, "no load takes less than a cycle"
    assert found.bytes_per_s > 0
    assert found.bytes == bytes_per_pass()
