"""A signal at any moment of a start ends memgauge as it should, without a traceback.

Python itself can be interrupted before it executes any line of memgauge. It then prints a traceback
of its own, dies of the signal, or drops it: these moments are no failure. They are recognised by
the lack of our files in what is printed, and by a SIGTERM that the process does not catch yet.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.integration.command import command, without_rebuild

pytestmark = pytest.mark.native

INTERRUPTED = "memgauge: interrupted"
STARTED = ("latency", "--budget", "60s", "--precision", "0.0001%", "--output", "run")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return without_rebuild(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def start_s(environment: dict[str, str]) -> float:
    """How long a start takes on this machine as it is now: the moments lie in twice that."""
    began = time.monotonic()
    subprocess.run(
        command("latency", "--help"), env=environment, check=True, capture_output=True, timeout=120
    )
    return time.monotonic() - began


def script() -> list[str]:
    """The console script beside this interpreter."""
    found = shutil.which("memgauge", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("memgauge has no console script beside this interpreter")
    return [found]


def usual_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def ended_at(
    moment_s: float,
    number: signal.Signals,
    words: list[str],
    environment: dict[str, str],
    place: Path,
) -> tuple[int, str]:
    """Exit code and standard error of memgauge, sent a signal so long after its process began.

    The exit code is that of the signal if Python dropped it before memgauge took signals over.
    """
    shutil.rmtree(place / "run", ignore_errors=True)
    with subprocess.Popen(
        words,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=usual_signals,  # noqa: PLW1509
    ) as running:
        time.sleep(moment_s)
        ours = catches(running.pid, signal.SIGTERM)
        running.send_signal(number)
        try:
            error = running.communicate(timeout=60 if ours else 10)[1]
        except subprocess.TimeoutExpired:
            running.kill()
            if ours:
                raise
            return -number, ""
    return running.returncode, error


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def is_pythons_own(code: int, error: str, number: signal.Signals, site: str) -> bool:
    """Whether Python was interrupted before it executed a line of memgauge."""
    if code == -number and not error:
        return True
    if f"{site}/memgauge/" in error:
        return False
    ended = "KeyboardInterrupt" in error or "Fatal Python error: init" in error
    return code in {1, -number} and ended


@pytest.mark.parametrize(
    ("number", "start", "moments"),
    [
        (signal.SIGINT, "script", 16),
        (signal.SIGINT, "module", 8),
        (signal.SIGTERM, "script", 8),
    ],
)
def test_a_signal_at_any_moment_of_the_start_has_its_exit_code_and_no_traceback(
    *,
    number: signal.Signals,
    start: str,
    moments: int,
    environment: dict[str, str],
    start_s: float,
    tmp_path: Path,
) -> None:
    words = [*script(), *STARTED] if start == "script" else command(*STARTED)
    site = environment["PYTHONPATH"].split(os.pathsep)[0]
    last = INTERRUPTED if number == signal.SIGINT else f"memgauge: ended by {number.name}"
    ours = 0
    for step in range(moments):
        moment_s = 2 * start_s * (step + 1) / moments
        code, error = ended_at(moment_s, number, words, environment, tmp_path)
        if is_pythons_own(code, error, number, site):
            continue
        ours += 1
        known = f"{moment_s * 1000:.0f} ms: {code}, {error}"
        lines = error.strip().splitlines() or [last]  # silence while it starts
        assert (code, lines[-1]) == (128 + number, last), known
        assert "Traceback" not in error, known
        assert "Exception ignored" not in error, known
    assert ours >= moments / 4, "hardly any signal came after memgauge had begun"


def test_what_is_ignored_stays_ignored_while_starting(
    environment: dict[str, str], start_s: float, tmp_path: Path
) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with subprocess.Popen(
        command("--help"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignore,  # noqa: PLW1509
    ) as running:
        for _ in range(20):
            time.sleep(start_s / 20)
            running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=60)
    assert running.returncode == 0, error
    assert b"survey" in out


def test_a_call_from_python_leaves_signals_and_streams_of_the_process_alone() -> None:
    code = (
        "import signal, sys\n"
        "from memgauge.__main__ import main\n"
        "before = [signal.getsignal(n) for n in signal.valid_signals()], sys.stdout, sys.stderr\n"
        "assert main(['--version']) == 0\n"
        "assert main(['stream', '--nothing']) == 2\n"
        "after = [signal.getsignal(n) for n in signal.valid_signals()], sys.stdout, sys.stderr\n"
        "assert before == after, (before, after)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True)
