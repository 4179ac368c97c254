"""Child processes that run a module of this package, and no code from their working directory.

Python takes modules from the working directory (`-m`), from PYTHONPATH, whose empty entries mean
that directory too, and from what PYTHONSTARTUP and its like name. A child is started isolated
(`-I`), and is given the directories in which this process found its own modules, in their order, so
that both run the same code where several versions are installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_START = (
    "import os, runpy, sys\n"
    "known = sys.argv[1].split(os.pathsep)\n"
    "sys.path[:] = known + [entry for entry in sys.path if entry not in known]\n"
    "del sys.argv[:2]\n"
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def isolated(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command line of a child interpreter that runs a module with arguments."""
    return [sys.executable, "-I", "-c", _START, os.pathsep.join(_trusted()), module, *arguments]


def _trusted() -> list[str]:
    """Directories in which this process may have found modules, without its working directory.

    The working directory is included if this package itself is in it.
    """
    own = str(Path(__file__).absolute().parents[3])
    here = os.path.realpath(os.curdir)
    return [
        entry
        for entry in sys.path
        if os.path.isabs(entry)  # noqa: PTH117
        and (os.path.realpath(entry) != here or os.path.realpath(own) == here)
        and os.pathsep not in entry
    ]
