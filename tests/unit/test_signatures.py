"""Functions of the package show their options: to help(), to `inspect`, and to checkers."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import memgauge
from memgauge import signatures
from memgauge.signatures import NAMES, options_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.native


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_a_parameter_with_its_default(name: str) -> None:
    shown = inspect.signature(getattr(memgauge, name)).parameters
    for option in options_of(name):
        parameter = shown[option.keyword]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.default == option.default
        assert f"    {option.keyword}: " in (getattr(memgauge, name).__doc__ or "")
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in shown.values())


def test_without_the_native_core_a_function_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> list[signatures.Described]:
        raise memgauge.MemgaugeError("no core")

    def plain(**options: object) -> None:
        """Plain."""

    monkeypatch.setattr(signatures, "RequestError", memgauge.MemgaugeError)
    monkeypatch.setattr(signatures, "options_of", fail)
    assert signatures.described("stream", plain) is plain
    assert plain.__doc__ == "Plain."


def test_the_stub_is_that_of_the_options() -> None:
    done = subprocess.run(
        [sys.executable, ".ci/stub.py", "src/memgauge/__init__.pyi", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
