"""What the kernel accounts to a run, and what it does not report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.program.run_use import run_delay_ns
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.system.tree import Tree

CPU = min(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("text", "delay_ns"),
    [
        ("5000 320 7\n", 320),
        ("5000 0 7\n", 0),
        ("0 0 0\n", None),  # a kernel without these accounts
        ("5000\n", None),
        ("a b c\n", None),
        (None, None),
    ],
)
def test_a_delay_that_the_kernel_does_not_report_is_missing(
    tmp_path: Path, text: str | None, delay_ns: int | None
) -> None:
    folder = tmp_path / "proc" / "12"
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "schedstat").write_text(text, encoding="ascii")
    assert run_delay_ns(12, Tree(tmp_path)) == delay_ns


def test_a_run_has_its_faults_and_the_floor_of_its_peak() -> None:
    usual = Treatment(name="as it is", kind="variant")
    use = ProgramRuns(["true"], [CPU]).run(usual).use
    assert use is not None
    assert use.usage is not None
    assert use.usage.minor_faults > 0
    assert use.peak_floor_bytes is None or use.peak_floor_bytes > 0
    assert use.reading is None


def test_two_that_share_a_cpu_wait_for_it() -> None:
    """A shell's loop and one in the background of it, on one CPU."""
    loop = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"
    usual = Treatment(name="as it is", kind="variant")
    use = ProgramRuns(["sh", "-c", f"({loop}) & {loop}; wait"], [CPU]).run(usual).use
    assert use is not None
    if use.run_delay_ns is None:
        pytest.skip("the kernel keeps no account of waiting (CONFIG_SCHED_INFO)")
    assert use.run_delay_ns > 0
