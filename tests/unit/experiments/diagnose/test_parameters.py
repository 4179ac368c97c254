"""What can be asked of a diagnosis, and how it is written."""

from __future__ import annotations

import pytest

from memgauge.experiments.diagnose.parameters import DiagnoseParameters, Variant
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build, texts


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
        ({"metric": "no group"}, "has 0 groups"),
        ({"metric": "(a)(b)"}, "has 2 groups"),
        ({"metric": "("}, "is no regular expression"),
        ({"program_cpus": "x"}, "is no list of CPUs"),
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
    ],
)
def test_what_has_no_meaning_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(DiagnoseParameters, **given).check()
