"""A setting of the machine, when the process that has it changed is killed or ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.system.settings.kernels import plant, set_mode

from memgauge.system.memory.pages import thp_mode
from memgauge.system.settings import huge_pages
from memgauge.system.settings.left import put_back_left

CHANGES = """
import sys
from contextlib import ExitStack
from pathlib import Path
from memgauge.model.termination import unwinding
from memgauge.system.settings import huge_pages
from memgauge.system.settings.huge_pages import HugePagesForAll
from memgauge.system.settings.switch import Switch
from memgauge.system.tree import Tree
from tests.unit.system.settings.kernels import set_mode

huge_pages.write_mode = set_mode
tree, state = Tree(Path(sys.argv[1])), Path(sys.argv[2])
with unwinding(), ExitStack() as stack:
    made = Switch.opened(HugePagesForAll, HugePagesForAll.recorded, stack, tree, state)
    with made.changed():
        print("changed", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_mode_of_the_machine_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
) -> None:
    tree, state = plant(tmp_path / "machine", "never"), tmp_path / "state"
    with subprocess.Popen(
        [sys.executable, "-c", CHANGES, str(tmp_path / "machine"), str(state)],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"changed\n"
        assert thp_mode(tree) == "always"
        process.send_signal(ending)
        process.wait()
    monkeypatch.setattr(huge_pages, "write_mode", set_mode)
    is_killed = ending == signal.SIGKILL
    assert thp_mode(tree) == ("always" if is_killed else "never")
    codes = [one.code for one in put_back_left(tree, state)]
    assert codes == (["thp-restored"] if is_killed else [])
    assert thp_mode(tree) == "never"
    assert list(state.iterdir()) == []
