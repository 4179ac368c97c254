"""perf itself counts the same on trees of memory controllers, which both read at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.counters_trees import tracepoints

core = pytest.importorskip("memgauge._core", reason="the native core is not built")

from memgauge.counters.opening import opened  # noqa: E402 - needs the core
from memgauge.counters.perf.back_end import PerfBackEnd  # noqa: E402
from memgauge.model.counting.events import Counter  # noqa: E402

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]
READS, WRITES = (8192, 12288), (4096, 16384)
"""Calls on CPU 0 and 1: quarters of a MiB in lines of 64 bytes, as perf prints two decimals."""
CALLS = f"""
import sys
from pathlib import Path
from tests.counters_trees import tracepoints
tree = tracepoints.TREES[sys.argv[1]](Path(sys.argv[2]))
for cpu in (0, 1):
    tree.read({READS}[cpu], cpu)
    tree.write({WRITES}[cpu], cpu)
"""


def published(counter: Counter) -> tuple[str, int | None]:
    """The event as perf prints it, and the CPU."""
    unit, event = counter.instance.split("@")[0], counter.event.split("/")[1]
    number = unit.removeprefix("nest_mba").removesuffix("_imc")
    if number != unit:  # the kernel's names hold the number of the unit
        event = event.replace("PM_MBA_", f"PM_MBA{number}_")
    return f"{unit}/{event}/", counter.cpu


def by_perf(output: str) -> dict[tuple[str, int | None], float]:
    """Counts by event and CPU; what perf has scaled is made a count again."""
    counts: dict[tuple[str, int | None], float] = {}
    for line in output.splitlines():
        cpu, value, unit, event, *_ = line.split(";")
        counts[event, int(cpu.removeprefix("CPU"))] = float(value) * (16384 if unit == "MiB" else 1)
    return counts


@pytest.mark.parametrize("name", tracepoints.TREES)
def test_perf_stat_counts_the_same(name: str, tmp_path: Path) -> None:
    reason = tracepoints.missing()
    perf = shutil.which("perf")
    if reason or perf is None or os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip(reason or "needs perf, unshare and root")
    tree = tracepoints.TREES[name](tmp_path / "tree")
    if tree is None:
        pytest.skip("no two of the system calls have numbers that differ in one bit")
    (tmp_path / "again").mkdir()
    known = PerfBackEnd(tree.host_as_we_are).events()
    events = [event for event in known if event.quantity in {"read_bytes", "write_bytes"}]
    with tracepoints.alone(), opened(events, name="x", host=tree.host_as_we_are) as one:
        requested = ",".join(sorted({published(counter)[0] for counter in one.set.of}))
        devices = "/sys/bus/event_source/devices"
        script = (
            f"mount --bind {tree.sysfs}/bus/event_source/devices {devices} && exec {perf} stat "
            f'-x ";" -A -a -e "{requested}" -- "$@"'
        )
        before = one.reader.read().values
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh",
             sys.executable, "-c", CALLS, name, str(tmp_path / "again")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        after = one.reader.read().values
    if done.returncode:
        pytest.skip(f"no private mount namespace or perf refuses: {done.stderr[:200]}")
    ours = {published(c): (after[c.slot] or 0) - (before[c.slot] or 0) for c in one.set.of}
    assert ours == by_perf(done.stderr)
    assert set(ours.values()) <= {*READS, *WRITES}
