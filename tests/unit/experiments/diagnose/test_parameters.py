"""What can be asked of a diagnosis, and how it is written."""

from __future__ import annotations

import pytest

from memgauge.experiments.diagnose.parameters import DiagnoseParameters, Variant
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build, texts

READ = {"pid": "7", "metric_command": "echo 1", "metric_better": "more"}
"""A process, and how its metric is read."""


def test_what_was_asked_is_read_back_from_a_record() -> None:
    asked = DiagnoseParameters(
        command="./a.out --name 'two words'",
        rounds=12,
        program_cpus=(0, 1),
        metric="time ([0-9.]+)",
        variants=(Variant("small", "./a.out -n 1,2"), Variant("env", "FOO=a=b c")),
    )
    assert asked.words == ["./a.out", "--name", "two words"]
    written = {name: value for name, value in texts(asked).items() if value is not None}
    assert build(DiagnoseParameters, **written) == asked


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("env=FOO=1", ("FOO", "1")),
        ("env=FOO=a b=c", ("FOO", "a b=c")),
        ("run=./a.out --size=3", None),
        ("run=a.out", None),
    ],
)
def test_a_variant_is_a_variable_or_a_command(text: str, variable: tuple[str, str] | None) -> None:
    (variant,) = DiagnoseParameters(variants=text).variants or ()  # type: ignore[arg-type]
    assert variant.variable == variable


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"try": "nothing"}, "write NAME=COMMAND"),
        ({"try": "a=x;;a=y"}, "same name"),
        ({"try": "write=./a.out"}, "a treatment of every diagnosis is named write"),
        ({"try": "a=./a.out 'b"}, "is no command: no closing quotation"),
        ({"try": "a= "}, "write NAME=COMMAND"),
        ({"metric": "no group"}, "has 0 groups"),
        ({"metric": "(a)(b)"}, "has 2 groups"),
        ({"metric": "("}, "is no regular expression"),
        ({"program_cpus": "x"}, "is no list of CPUs"),
        ({"region": " "}, "names no region"),
        ({"pid": "0"}, "is not a process identifier"),
        ({"metric_better": "faster"}, "choose from more, less"),
        ({"only": "nothing"}, "--only"),
    ],
)
def test_what_cannot_be_understood_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(DiagnoseParameters, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": "2"}, "--threads: does not apply"),
        ({"nodes": "0"}, "--nodes: does not apply"),
        ({"program_cpus": "0-2", "pressure_cpus": "2,3"}, "both have CPU 2"),
        ({"metric_command": "echo 1"}, "--metric-command: needs --pid"),
        ({"metric_better": "more"}, "--metric-better: needs --metric"),
        ({"region": "a", "metric": "(.*)"}, "--region, --metric: both say what is measured"),
        ({"region": "a", "metric_better": "more"}, "--metric-better: needs --metric"),
        ({"pid": "7"}, "--pid: needs --metric-command"),
        ({"pid": "7", "metric_command": "echo 1"}, "needs --metric-better more .* or less"),
        (READ | {"only": "pages,threads"}, "--only pages,threads: needs the program to be started"),
        (READ | {"program_cpus": "0"}, "--program-cpus: does not apply to --pid: .*taskset"),
        (READ | {"try": "a=FOO=1"}, "--try: does not apply to --pid"),
        (READ | {"simulate_up_to": "5s"}, "--simulate-up-to: does not apply to --pid"),
        (READ | {"region": "solve"}, "--region: does not apply to --pid"),
        (READ | {"same_output": "true"}, "--same-output: does not apply to --pid"),
    ],
)
def test_what_has_no_meaning_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(DiagnoseParameters, **given).check()


@pytest.mark.parametrize(
    "given", [READ, READ | {"metric": "GET (.*)"}, {"metric": "rate (.*)", "metric_better": "more"}]
)
def test_a_metric_of_either_direction_is_read(given: dict[str, str]) -> None:
    asked = build(DiagnoseParameters, **given)
    asked.check()
    written = {name: value for name, value in texts(asked).items() if value is not None}
    assert build(DiagnoseParameters, **written) == asked
