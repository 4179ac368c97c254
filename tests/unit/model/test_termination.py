"""Signals that unwind: the first raises, the second waits for nothing and tears nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from memgauge.model.termination import (
    Interrupted,
    Terminated,
    heed,
    interruption_behind,
    unwinding,
)

ALL = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = [signal.getsignal(number) for number in ALL]
    yield
    assert [signal.getsignal(number) for number in ALL] == before


@pytest.mark.parametrize("second", ALL)
@pytest.mark.parametrize("first", ALL)
def test_a_second_signal_does_not_tear_what_the_first_closes(
    first: signal.Signals, second: signal.Signals
) -> None:
    steps = []

    def close() -> None:
        steps.append("begun")
        signal.raise_signal(second)
        steps.append("done")

    def interrupted() -> None:
        with unwinding(), ExitStack() as stack:
            stack.callback(close)
            signal.raise_signal(first)

    with pytest.raises(KeyboardInterrupt) as raised:
        interrupted()
    assert steps == ["begun", "done"]
    expected = Interrupted if first == signal.SIGINT else Terminated
    assert type(raised.value) is expected
    if isinstance(raised.value, Terminated):
        assert raised.value.signal_number == first


def test_a_signal_after_one_that_was_handled_raises_again() -> None:
    raised = []
    with unwinding():
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt as error:
                raised.append(type(error))
    assert raised == [Interrupted, Interrupted, Terminated, Interrupted]


@pytest.mark.parametrize("number", ALL)
def test_a_signal_during_a_callback_that_drops_exceptions_still_ends_the_program(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    class Thing:
        def __del__(self) -> None:
            signal.raise_signal(number)

    def interrupted() -> None:
        with unwinding():
            Thing()
            threading.Event().wait(60)

    with pytest.raises(KeyboardInterrupt) as raised:
        interrupted()
    expected = Interrupted if number == signal.SIGINT else Terminated
    assert type(raised.value) is expected
    assert "ignored" not in capsys.readouterr().err


def test_other_errors_that_callbacks_drop_are_reported_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Thing:
        def __del__(self) -> None:
            raise ValueError("of the destructor")

    dropped: list[str] = []

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        dropped.append(str(unraisable.exc_value))

    monkeypatch.setattr(sys, "unraisablehook", hook)
    with unwinding():
        Thing()
    Thing()
    assert dropped == ["of the destructor"] * 2
    assert sys.unraisablehook is hook


@pytest.mark.parametrize("number", ALL)
def test_a_signal_whose_exception_was_dropped_raises_where_it_is_heeded(
    number: signal.Signals,
) -> None:
    with unwinding():
        heed()
        with pytest.raises(KeyboardInterrupt):  # stands for C code that drops it
            signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt) as heeded:
            heed()
    expected = Interrupted if number == signal.SIGINT else Terminated
    assert type(heeded.value) is expected
    heed()
    with unwinding():
        heed()


def test_a_third_signal_ends_the_process_at_once() -> None:
    program = (
        "import signal\n"
        "from memgauge.model.termination import unwinding\n"
        "with unwinding():\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "    finally:\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "        print('closing', flush=True)\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "        print('closed')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "closing\n", "")


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with unwinding():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_interruption_is_found_behind_what_python_made_of_it() -> None:
    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            raise Terminated(signal.SIGTERM)

    with pytest.raises((RuntimeError, Terminated)) as made:
        type("Owner", (), {"name": Named()})
    found = interruption_behind(made.value)
    assert isinstance(found, Terminated)
    assert found.signal_number == signal.SIGTERM
    assert interruption_behind(RuntimeError("of its own")) is None
