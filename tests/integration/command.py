"""The command line tool as tests run it: of this interpreter, its output as text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.integration import warm

import memgauge as installed

LIMIT_S = 120

OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm_rsh_agent": shutil.which("ssh") or "/bin/true",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""For Open MPI, which else refuses root and more ranks than cores, and wants ssh or rsh on PATH.
Others know nothing of these."""


def command(*arguments: object) -> list[str]:
    """The words that start it."""
    return [sys.executable, "-m", "memgauge", *map(str, arguments)]


def memgauge(
    *arguments: object,
    cwd: Path | str | None = None,
    before: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, in a fork of a process that has imported it where that is as good.

    Args:
        arguments: of the tool.
        cwd: the directory in which it runs.
        before: what starts it, such as setpriv; then it is started anew.
        environment: all of it; None: that of the tests.
        limit_s: how long it may take.
    """
    if before:
        return _anew([*before, *command(*arguments)], cwd, environment, limit_s)
    return run_module("memgauge", arguments, cwd=cwd, environment=environment, limit_s=limit_s)


def run_module(
    module: str,
    arguments: Iterable[object],
    *,
    cwd: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m module` to its end, in a fork where `memgauge` would be run in one."""
    words = [str(one) for one in arguments]
    given = os.environ if environment is None else environment
    if warm.suits(given):
        return warm.run(words, cwd, given, limit_s, module=module)
    return _anew([sys.executable, "-m", module, *words], cwd, environment, limit_s)


def _anew(
    words: Sequence[str],
    cwd: Path | str | None,
    environment: Mapping[str, str] | None,
    limit_s: float,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


def without_core(place: Path) -> dict[str, str]:
    """An environment in which the native core cannot be imported; `place` is written into."""
    (place / "sitecustomize.py").write_text(
        "import sys\nsys.modules['memgauge._core'] = None\n", encoding="utf-8"
    )
    paths = [str(place), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def without_rebuild(place: Path) -> dict[str, str]:
    """An environment in which the package is imported as from a wheel; `place` is written into.

    An editable install looks, and says so, whether its core must be built anew on every start.
    """
    package = place / "memgauge"
    package.mkdir()
    for folder in map(Path, installed.__path__):
        for entry in folder.iterdir():
            if not (package / entry.name).exists():
                (package / entry.name).symlink_to(entry)
    builds = [str(path) for one in sys.meta_path if (path := getattr(one, "path", None))]
    paths = [str(place), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "SKBUILD_EDITABLE_SKIP": os.pathsep.join(builds),
    }
