"""Whatever is handed to the Python API, it is taken or refused in one line by the project's error.

Every public function with every parameter, each with values that make no sense there. Functions
that measure are stopped where they would begin.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import pytest

import memgauge
from memgauge import api, measuring
from memgauge.cluster import series
from memgauge.experiments.registry import load as load_experiment
from memgauge.model.errors import MemgaugeError, RequestError, RunFileError
from memgauge.model.experiments import SURVEYED
from memgauge.model.parameters import Parameters, RunOptions, fields_of
from memgauge.runner.profiling import profile as profile_runner
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.store import sources

pytestmark = pytest.mark.native


class Accepted(MemgaugeError):
    """The arguments were taken, and the run would begin."""


FIVE = cast("str", 5)
"""No text, whatever the type checker is told."""
ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)
ABSURD: Mapping[str, object] = {
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "no number": math.nan,
    "true": True,
    "false": False,
    "minus one": -1,
    "zero": 0,
    "a fraction": 1.5,
    "401 digits": 10**400,
    "minus 401 digits": -(10**400),
    "5,001 digits": 10**5000,
    "a complex number": 1j,
    "empty text": "",
    "5,000 digits as text": "9" * 5000,
    "a million characters": "9" * 10**6,
    "a zero byte": "\0",
    "half a character": "\ud800",
    "two lines": "a\nb",
    "ranges over and over": ",".join(["1-65536"] * 3000),
    "no bytes": b"",
    "bytes": b"x",
    "a path": Path("/"),
    "a long path": Path("x" * 5000),
    "no list": [],
    "no mapping": {},
    "a mapping": {"a": 1},
    "a set": {1},
    "nothing in a list": [None],
    "infinity in a list": [math.inf],
    "a list in a list": [[]],
    "a list in itself": ENDLESS,
    "half a character in a list": ["\ud800"],
    "bytes in a list": [b"x"],
    "5,001 digits in a list": [10**5000],
    "a pair": (1, 2),
    "an endless range": range(10**12),
    "a longer range": range(10**400),
    "an object": object(),
    "a type": int,
    "a function": len,
}
WITH_OPTIONS = {
    "survey": "stream", "repeat": "stream",
    "traffic": "traffic", "diagnose": "diagnose", "counters_compare": "counters_compare",
    "counters_verify": "counters_verify", **{name: name for name in SURVEYED},
}  # fmt: skip
"""Functions that take the options of an experiment, and which."""
NEEDED: Mapping[str, Mapping[str, object]] = {
    "traffic": {"kernel": "gemm"},
    "diagnose": {"command": ["true"]},
    "counters_compare": {"one": "perf", "other": "pcp"},
    "repeat": {"name": "stream", "runs": 1},
    "simulate": {"command": ["/nonexistent"]},
    "add_to_store": {"store": "store"},
}
"""What a function cannot be called without."""
SEVERAL = {"compare": 2, "counters": 1, "trend": 1, "add_to_store": 1}
"""Functions of any number of values, and how many they are given here."""
WITHOUT = {"MemgaugeError", "Result", "events", "system"}
"""Types, and functions that take nothing."""


def options_of(name: str) -> list[str]:
    if name == "profile":
        return [field.keyword for field in fields_of(ProfileParameters)]
    if name not in WITH_OPTIONS:
        return []
    struct: type[Parameters] = load_experiment(WITH_OPTIONS[name]).parameters
    found = [field.keyword for field in (*fields_of(struct), *fields_of(RunOptions))]
    return [*found, "budget_s", "nonsense"]


def calls(name: str, value: object) -> Iterator[tuple[str, Callable[[], object]]]:
    """The function with the value in the place of each parameter."""
    function = getattr(memgauge, name)
    needed = NEEDED.get(name, {})
    keywords = dict.fromkeys(options_of(name))
    answers = api if hasattr(api, name) else memgauge
    for parameter in inspect.signature(getattr(answers, name)).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield f"*{parameter.name}", lambda: function(*[value] * SEVERAL[name])
        elif parameter.kind is not parameter.VAR_KEYWORD:
            keywords[parameter.name] = None
    for keyword in keywords:
        given = dict(needed) | {keyword: value}
        if name == "compare":
            both = ["reference:nvdimm-dram"] * 2
            yield keyword, lambda given=given, both=both: function(*both, **given)  # type: ignore[misc]
        elif name == "profile" and keyword not in {"command", "pid"}:
            yield keyword, lambda given=given: function(["true"], **given)  # type: ignore[misc]
        else:
            yield keyword, lambda given=given: use(function(**given))  # type: ignore[misc]


def use(made: object) -> None:
    """A region is begun where it is entered."""
    if isinstance(made, AbstractContextManager):
        with made:
            pass


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def accept(*_: object, **__: object) -> None:
        raise Accepted

    monkeypatch.setattr(measuring, "measure", accept)
    monkeypatch.setattr(series, "measure_afresh", accept)
    monkeypatch.setattr(profile_runner, "profile", accept)
    monkeypatch.setattr(sources, "MOST_DEPTH", 1)  # one of the values is the root directory
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", sorted(set(memgauge.__all__) - WITHOUT))
def test_every_argument_is_taken_or_refused(name: str) -> None:
    failures = []
    for said, value in ABSURD.items():
        for keyword, call in calls(name, value):
            try:
                call()
            except MemgaugeError as error:
                text = str(error)
                if "\n" in text or len(text) > 1500 or not text.isprintable():
                    failures.append(f"{keyword}: {said}: a message of {len(text)} characters")
            except Exception as error:  # noqa: BLE001 - any is a failure
                failures.append(f"{keyword}: {said}: {repr(error)[:200]}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: memgauge.stream(counters=math.inf), "--counters"),  # type: ignore[arg-type]
        (lambda: memgauge.stream(counters=True), "--counters"),  # type: ignore[arg-type]
        (lambda: memgauge.stream(threads=10**5000), "--threads: a number of 16610 bits"),
        (lambda: memgauge.stream(threads=range(10**12)), "more than 131072 values"),
        (lambda: memgauge.stream(output=b"x"), "type bytes was given"),  # type: ignore[arg-type]
        (lambda: memgauge.stream(output="\ud800"), "is not a path"),
        (lambda: memgauge.profile(["true"], rate=True), "--rate"),
        (lambda: memgauge.profile(["a\0b"]), "cannot be a word of a command"),
        (
            lambda: memgauge.counters(FIVE),
            "counters: an object of type int was given; give text",
        ),
        (lambda: memgauge.counters(pid=True), "which is not a process identifier"),
        (lambda: memgauge.repeat("stream", 0), "no whole number from 1 to 100"),
        (lambda: memgauge.repeat("streams", 2), "cannot be repeated; choose survey"),
        (lambda: memgauge.repeat("stream", 2, only="latency"), "with only= for some"),
        (lambda: memgauge.repeat("survey", 2, only="stream", kernel="copy"), "no option 'kernel'"),
        (lambda: memgauge.simulate([]), "no command was given"),
        (
            lambda: memgauge.region(FIVE),
            "region: an object of type int was given; give text",
        ),
    ],
)
def test_a_refusal_names_the_parameter(call: Callable[[], object], why: str) -> None:
    with pytest.raises(RequestError, match=why):
        use(call())


def test_paths_and_lists_are_taken_as_objects_too(tmp_path: Path) -> None:
    for options in (
        {"output": tmp_path / "run"},
        {"threads": [1, 2]},
        {"threads": range(1, 3)},
        {"cpus": [0, 1]},
        {"budget": 5, "precision": 0.5},
    ):
        with pytest.raises(Accepted):
            memgauge.stream(**options)
    with pytest.raises(RunFileError, match="no such file"):
        memgauge.load(tmp_path)
