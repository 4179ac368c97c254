"""The loop of a watch with a made-up probe: record, views, keys, baseline, failures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memgauge.analysis.watch.rules import Alert
from memgauge.analysis.watch.section import watched_of
from memgauge.analysis.watch.status import Status
from memgauge.experiments.watch.probe import Pass
from memgauge.model.errors import RequestError
from memgauge.model.storage.lane_writer import LaneWriter
from memgauge.model.storage.run_file import read_run
from memgauge.model.system import System
from memgauge.model.termination import Terminated
from memgauge.runner.watching.parameters import WatchParameters, parse_address, parse_group
from memgauge.runner.watching.watch import Facts, View, Watched, WatchRequest, probe_cpu, watch
from memgauge.system.detect import detect

pytestmark = pytest.mark.native


class MadeUp:
    """A probe whose third pass is disturbed."""

    def __init__(self, cpu: int, _: System) -> None:
        self.cpu = cpu
        self.passes = 0

    def run(self) -> Pass:
        self.passes += 1
        return Pass(chase_ns=40_000, bytes_per_s=10**10, bytes=1000, was_disturbed=self.passes == 3)

    def close(self) -> None:
        pass


class Impatient(View):
    """Does not wait, and ends the watch after some samples."""

    def __init__(self, samples: int, error: BaseException | None = None) -> None:
        self.left = samples
        self.error = error
        self.seen: list[Status] = []
        self.facts: Facts | None = None
        self.has_ended = False

    def begins(self, facts: Facts) -> None:
        self.facts = facts

    def show(self, status: Status, changes: Sequence[Alert]) -> None:
        del changes
        self.seen.append(status)
        self.left -= 1

    def wait(self, seconds: float, period_s: float) -> float | None:
        assert 0 <= seconds <= 3600
        if self.left > 0:
            return 1e-6
        if self.error is not None:
            raise self.error
        return None

    def ends(self) -> None:
        self.has_ended = True


def watched(view: Impatient, directory: Path | None = None, **options: object) -> Watched:
    parameters = WatchParameters(**options)  # type: ignore[arg-type]
    system = detect()
    request = WatchRequest(
        parameters=parameters,
        system=system,
        cpu=probe_cpu(parameters, system),
        directory=directory,
        probe=MadeUp,
    )
    return watch(request, view)


def test_a_watch_is_shown_and_recorded(tmp_path: Path) -> None:
    view = Impatient(5)
    done = watched(view, tmp_path / "run")
    assert (done.samples, len(view.seen), view.has_ended, done.failure) == (5, 5, True, None)
    run = read_run(tmp_path / "run")
    assert run.end is not None
    assert run.end.status == "complete"
    found = watched_of(run)
    assert found is not None
    assert found.moments == 5
    latency = next(one for one in found.summaries if one.figure.name == "latency_ns")
    assert (latency.count, latency.mean) == (4, 100.0), "the disturbed pass is missing"
    live = [one.moment.values.get("latency_ns") for one in view.seen]
    assert live == [100.0, 100.0, None, 100.0, 100.0]
    assert view.seen[-1].moment.total["own_bytes_per_s"] == 5000


def test_a_signal_ends_it_and_the_record_is_whole(tmp_path: Path) -> None:
    view = Impatient(2, Terminated(15))
    with pytest.raises(Terminated):
        watched(view, tmp_path / "run")
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert end.status == "interrupted"
    assert view.has_ended


def test_ctrl_c_is_the_usual_end(tmp_path: Path) -> None:
    assert watched(Impatient(2, KeyboardInterrupt()), tmp_path / "run").samples == 2
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert end.status == "complete"


def test_a_full_disk_ends_the_record_and_not_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: LaneWriter, data: bytes) -> None:
        del data
        raise self._failure(OSError(28, "No space left on device"))

    class Filling(Impatient):
        def begins(self, facts: Facts) -> None:
            monkeypatch.setattr(LaneWriter, "_write", full)
            super().begins(facts)

    done = watched(Filling(40), tmp_path / "run")
    assert done.samples == 40
    assert "cannot be written: No space left on device" in (done.failure or "")
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert end.status == "failed"


def test_without_a_probe_there_are_counters_alone() -> None:
    view = Impatient(2)
    watched(view, no_probe=True)
    values = view.seen[-1].moment.values
    assert "latency_ns" not in values
    assert values["page_faults_per_s"] is not None
    assert values["own_cpu_share"] is not None


def test_a_baseline_that_is_remembered_is_that_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    options: dict[str, Any] = {"remember": True, "learn_s": "1ms"}
    first, second = Impatient(30), Impatient(30)
    watched(first, **options)
    watched(second, **options)
    assert first.seen[-1].baselines["latency_ns"].source.startswith("first ")
    assert second.seen[-1].baselines["latency_ns"].source == "an earlier watch"
    assert len([*(tmp_path / "memgauge" / "earlier-runs").glob("*.json")]) == 1
    other = Impatient(30)
    watched(other, **options, cpu=min(detect().allowed_cpus))
    if len(detect().allowed_cpus) > 1:
        assert other.seen[-1].baselines["latency_ns"].source.startswith("first ")


def test_what_cannot_be_had_is_refused_in_a_line() -> None:
    with pytest.raises(RequestError, match="--cpu 65535: this process may not run there"):
        probe_cpu(WatchParameters(cpu=65535), detect())
    with pytest.raises(RequestError, match="4194000"):
        watched(Impatient(1), pid=4194000)
    with pytest.raises(RequestError, match=r"between 0\.2s and 1h"):
        WatchParameters(period_s="10ms")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9465", ("127.0.0.1", 9465)),
        (":9465", ("127.0.0.1", 9465)),
        ("[::1]:80", ("::1", 80)),
        ("node7.example:0", ("node7.example", 0)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text, "--listen") == address


@pytest.mark.parametrize("text", ["", "9465", "a:b", "a:70000", "http://a:1", "::1:80", "a b:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="is not HOST:PORT"):
        parse_address(text, "--listen")


def test_groups() -> None:
    assert parse_group("/sys/fs/cgroup/a.slice/", "--cgroup") == "/a.slice"
    assert parse_group("a.slice", "--cgroup") == "/a.slice"
    with pytest.raises(RequestError, match="is not a control group"):
        parse_group("/../x", "--cgroup")
