"""`memgauge traffic`: what is handed on, and what is said beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("memgauge._core")

from memgauge.commands import traffic
from memgauge.experiments.traffic.host import Traffic
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.model.errors import RequestError
from memgauge.model.parameters import RunOptions


@pytest.fixture
def requested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> list[tuple[TrafficParameters, RunOptions]]:
    """What was to be measured, from a directory of our own."""
    monkeypatch.chdir(tmp_path)
    found: list[tuple[TrafficParameters, RunOptions]] = []

    def measure(chosen: Any, options: RunOptions) -> int:
        ((experiment, parameters),) = chosen
        assert experiment.name == "traffic"
        found.append((parameters, options))
        return 0

    monkeypatch.setattr(traffic, "measure", measure)
    return found


def run(*arguments: str) -> str:
    """What is said on stderr."""
    done = CliRunner().invoke(traffic.command, list(arguments), standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.stderr


def test_the_kernel_and_the_options_are_handed_on(
    requested: list[tuple[TrafficParameters, RunOptions]],
) -> None:
    run("gemv", "--sizes", "64:128:64,512", "--cap", "100", "--batched", "--budget", "5s")
    ((parameters, options),) = requested
    assert (parameters.kernel, parameters.cap, parameters.batched) == ("gemv", 100, True)
    assert ",".join(map(str, parameters.sizes or ())) == "64:128:64,512"
    assert options.budget_s == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--budget", "5s"],
            (
                "memgauge: measuring takes at most 5.00 s (--budget); simulating this machine "
                "about 30.0 s at most (--simulate-up-to)"
            ),
        ),
        (["--machine", "none"], "memgauge: measuring takes at most 1 min 00 s (--budget)"),
        (
            ["--machine", "power9-5mb,this", "--simulate-only", "--simulate-up-to", "2m"],
            (
                "memgauge: simulating power9-5mb, this machine about 2 min 00 s at most "
                "(--simulate-up-to); all sizes would take about 3 min 00 s"
            ),
        ),
    ],
)
def test_how_long_it_may_take_is_said(
    arguments: list[str],
    said: str,
    requested: list[tuple[TrafficParameters, RunOptions]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Traffic, "simulation_s", lambda *_: 180.0)
    assert run("gemm", *arguments) == said + "\n"
    assert len(requested) == 1


def test_where_nothing_is_run_simulating_has_all_the_time(
    requested: list[tuple[TrafficParameters, RunOptions]],
) -> None:
    run("gemm", "--simulate-only", "--simulate-up-to", "7s")
    assert not list(Path().iterdir()), "checking leaves nothing"
    ((_, options),) = requested
    assert options.budget_s == 7


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["gemm", "--machine", "xeon"], "did you mean xeon-gold-6130"),
        (["gemm", "--machine", "none.toml"], "cannot be read"),
        (["s1cf", "--sizes", "100", "--grid", "3x7"], "the grid 3x7 does not divide it"),
        (["gemm", "--sizes", "600000"], "of memory may be used: none fits"),
        (["gemm", "--sizes", "64,1e6"], "--sizes 1000000: loop nest gemm: more than 2^58 trips"),
        (["gemm", "--machine", "power9-5mb", "--threads", "4000"], "4000"),
        (["gemm", "--output", "/dev/null/run"], "cannot hold a run: Not a directory"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_said(
    arguments: list[str], why: str, requested: list[tuple[TrafficParameters, RunOptions]]
) -> None:
    done = CliRunner().invoke(traffic.command, arguments, standalone_mode=False)
    assert isinstance(done.exception, RequestError)
    assert why in str(done.exception)
    assert done.stderr == ""
    assert not requested


def test_what_makes_no_sense_is_refused_before_anything_is_said(
    requested: list[tuple[TrafficParameters, RunOptions]],
) -> None:
    with pytest.raises(RequestError, match="did you mean gemm"):
        run("gemmm")
    with pytest.raises(RequestError, match="--batched, --threads"):
        run("gemm", "--batched", "--threads", "2")
    assert not requested
