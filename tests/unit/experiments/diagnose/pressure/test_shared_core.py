"""Whether two CPUs share a core is what the topology says, where the machine is not virtual."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.pressure import shared_core
from memgauge.experiments.diagnose.pressure.shared_core import SharedCore
from memgauge.system.detect import detect


def test_the_test_runs_on_two_cpus_and_ends() -> None:
    cpus = detect().allowed_cpus
    if len(cpus) < 2:
        pytest.skip("one CPU is allowed")
    with ExitStack() as stack:
        test = SharedCore(cpus[:2], stack)
        assert test.is_so_now() in {True, False}


@pytest.mark.parametrize(("together_ns", "is_shared"), [(1499, False), (1500, True), (2000, True)])
def test_two_threads_of_a_core_take_half_as_long_again(
    monkeypatch: pytest.MonkeyPatch, together_ns: int, is_shared: bool
) -> None:
    test = SharedCore.__new__(SharedCore)
    test._both, test._alone = "both", "alone"  # type: ignore[assignment]
    times = {"both": together_ns, "alone": 1000}
    monkeypatch.setattr(shared_core.SharedCore, "_fastest_ns", lambda _, traffic: times[traffic])
    assert test.is_so_now() is is_shared
