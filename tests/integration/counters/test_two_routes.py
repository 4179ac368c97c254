"""`--counters perf,pcp`: the kernel and a real daemon around the same work, shown side by side."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints
from tests.counters_trees.feed import Feed, fed
from tests.pcp_daemons.install import MISSING, installation
from tests.pcp_daemons.perfevent import perfevent_daemon

import memgauge
from memgauge.counters.host import SYSFS_VARIABLE
from memgauge.experiments.traffic import cold

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]

EVENTS = [f"nest_mba{n}_imc.PM_MBA{n}_{kind}_BYTES" for n in range(2) for kind in ("READ", "WRITE")]
ROUTES = "perf,pcp"


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tracepoints.CountingTree]:
    """A tree whose counters are fed what the kernels move, and a daemon that reads them too."""
    reason = tracepoints.missing() or (None if os.geteuid() == 0 else "the agent needs root")
    if reason:
        pytest.skip(reason)
    found = installation()
    if found is None:
        pytest.skip(MISSING)
    found.preload()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Every line moved is a system call here, also those of the lead-in.
    monkeypatch.setattr(cold, "caches_bytes", lambda *_: 1 << 16)
    with tracepoints.alone():
        tree = tracepoints.power9(tmp_path / "tree")
        with perfevent_daemon(found, tree.sysfs, EVENTS) as daemon:
            for name, value in daemon.environment().items():
                monkeypatch.setenv(name, value)
            with fed(tree, Feed(tree, 0, 1.0, 1.0), monkeypatch):
                yield tree


def test_stream_shows_both_and_adds_nothing(both: tracepoints.CountingTree, tmp_path: Path) -> None:
    del both
    result = memgauge.stream(
        kernel="add",
        variant="standard",
        threads="1",
        counters=ROUTES,
        array_bytes="16KiB",
        budget="3s",
        precision="50%",
        output=str(tmp_path / "run"),
    )
    first, other = result.document()["sections"][0]["hardware"]
    assert [first["back_end"], other["back_end"]] == ["perf", "pcp"]
    for one in (first, other):
        assert one["hardware_to_software_allocated"]["value"] == pytest.approx(1, rel=0.02)
    assert (first["first_route"], other["first_route"]) == (None, "perf")
    assert other["hardware_to_first_route"]["value"] == pytest.approx(1, rel=0.001)
    assert "By pcp and by perf the same was counted within 0.0" in " ".join(result.text().split())


def test_traffic_shows_both(both: tracepoints.CountingTree, tmp_path: Path) -> None:
    del both
    result = memgauge.traffic(
        "gemv",
        sizes="32,64",
        machine="none",
        counters=ROUTES,
        budget="20s",
        precision="50%",
        output=str(tmp_path / "run"),
    )
    (nest,) = result.document()["traffic"]
    for size in nest["sizes"]:
        (other,) = size["measured_by_other_routes"]
        assert [size["measured"]["back_end"], other["back_end"]] == ["perf", "pcp"]
        assert other["reads_to_first_route"]["value"] == pytest.approx(1, rel=0.001)
        assert other["read"]["bytes"]["value"] == pytest.approx(
            size["measured"]["read"]["bytes"]["value"], rel=0.001
        )
    text = " ".join(result.text().split())
    assert "measured by perf" in text
    assert "pcp : perf" in text


def test_a_profile_draws_both_and_sets_their_totals_side_by_side(
    both: tracepoints.CountingTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SYSFS_VARIABLE, str(both.sysfs))
    calls = "import os, time\nfor _ in range(50):\n    time.sleep(0.02)\n    "
    calls += "[os.sched_rr_get_interval(0) for _ in range(20)]"
    result = memgauge.profile(
        ["taskset", "-c", "0", sys.executable, "-c", calls],
        counters=ROUTES,
        output=str(tmp_path / "run"),
        rate="50",
    )
    found = result.document()["profile"]
    routes = found["routes"]["routes"]
    assert [one["back_end"] for one in routes] == ["perf", "pcp"]
    perf, pcp = (one["read_bytes"] for one in routes)
    # Two units count each of at most 1000 calls; what is cut off at the ends is the slower route's.
    assert 0 < perf <= 2 * 1000 * 64
    assert pcp == pytest.approx(perf, rel=0.25)
    names = [one["name"] for one in found["tracks"]]
    assert len(set(names)) == len(names)
    assert "Memory traffic by several routes" in result.text()
