"""What memgauge started ends when it is killed, and goes on when it let go."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from memgauge.system.programs import exit_with_parent as exiting
from memgauge.system.programs.ending import kill_tree
from memgauge.system.programs.program import lives, tree_of

HOLDER = (
    "import sys; from memgauge.system.programs.exit_with_parent import main; "
    "sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with a child."""
    process = subprocess.Popen(["sh", "-c", "sleep 60; :"])
    while len(tree_of(process.pid)) < 2:
        time.sleep(0.01)
    yield process
    kill_tree(process.pid)
    process.wait()


def held(pid: int, written: bytes) -> None:
    subprocess.run([sys.executable, "-c", HOLDER, str(pid)], input=written, check=True, timeout=60)


def test_a_pipe_that_nobody_holds_any_more_ends_all(shell: subprocess.Popen[bytes]) -> None:
    tree = tree_of(shell.pid)
    held(shell.pid, b"")
    shell.wait(10)
    until = time.monotonic() + 10
    while any(map(lives, tree)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(lives, tree))


def test_what_was_let_go_goes_on(shell: subprocess.Popen[bytes]) -> None:
    held(shell.pid, exiting.LET_GO)
    with exiting.exit_with_parent(shell.pid):
        pass
    assert all(map(lives, tree_of(shell.pid)))
    assert len(tree_of(shell.pid)) == 2


def test_without_an_interpreter_all_works_but_that(
    shell: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with exiting.exit_with_parent(shell.pid):
        assert lives(shell.pid)


GROUP = """
import subprocess, sys, time
from memgauge.system.programs.exit_with_parent import group_with_parent
with group_with_parent() as group:
    words = ["sh", "-c", "sleep 60; :"]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, process_group=group)
    print(group, child.pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_group_ends_with_the_process_that_made_it(*, is_killed: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", GROUP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        group, child = map(int, process.stdout.readline().split())
        while len(tree := tree_of(child)) < 2:
            time.sleep(0.01)
        assert all(map(lives, [group, *tree]))
        if is_killed:
            process.kill()
        process.communicate("")
    until = time.monotonic() + 10
    while any(map(lives, [group, *tree])) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(lives, [group, *tree]))


def test_without_an_interpreter_there_is_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with exiting.group_with_parent() as group:
        assert group is None
