"""What a command left: files, huge pages, what is written down; and what is a result of it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from tests.kills.processes import called
from tests.kills.scenarios import RECORDED, Scenario

from memgauge.model.storage.cluster import FIGURES_NAME, LOGS_NAME, MANIFEST_NAME
from memgauge.model.storage.marks import MARKS_NAME
from memgauge.model.storage.run_reader import RECORDS_NAME
from memgauge.system.areas.journal import Entry
from memgauge.system.earlier_runs import DIRECTORY as EARLIER_RUNS
from memgauge.system.earlier_runs import IN_RUN
from memgauge.system.leftovers import NOTHING

if TYPE_CHECKING:
    from tests.kills.place import Place

_OF_A_RUN = {RECORDS_NAME, IN_RUN, MARKS_NAME, "report.html", "summary.txt"}
_OF_A_JOB = {MANIFEST_NAME, FIGURES_NAME}
_OF_OPEN_MPI = ("temporary/ompi.*", "temporary/openmpi-sessions-*", "temporary/pmix-*")
"""What its mpirun leaves when it is killed itself."""
_SHARED_BY_OPEN_MPI = ("vader_segment.*", "sm_segment.*", "osc_rdma.*", "cma-*")
_KEPT_FOR_LATER = ("state/memgauge/verdicts/", f"state/memgauge/{EARLIER_RUNS}/")
_POOLS = Path("/sys/kernel/mm/hugepages")


def run_directories(place: Place) -> list[Path]:
    """Those that the command made."""
    found = [path.parent for path in place.work.rglob(RECORDS_NAME)]
    return sorted(path for path in found if path != place.work / RECORDED)


def leftovers(scenario: Scenario, place: Place) -> list[str]:
    """What is there and no result of the command, no user's, and no launcher's."""
    found = place.files() - place.of_users()
    names = sorted(_name(path, place) for path in found if not _is_result(path, scenario, place))
    return [*names, *(f"touched: {name}" for name in place.touched_of_users())]


def _name(path: Path, place: Place) -> str:
    inside = path.is_relative_to(place.root)
    return str(path.relative_to(place.root)) if inside else str(path)


def _is_result(path: Path, scenario: Scenario, place: Place) -> bool:
    name = _name(path, place)
    if name in {"out", "error"} or _is_launchers(path, name, scenario):
        return True
    if name.startswith("cache/memgauge/"):
        return path.suffix == ".js" and not path.name.startswith(".")
    if path.parent == place.work:
        return path.name in {"begun", "done"} or _is_named(scenario, path.name)
    if name.startswith("work/"):
        return _is_of_a_run(path) or _is_named(scenario, name.removeprefix("work/"))
    if name.startswith("state/memgauge/areas/"):
        return _is_kept(path)
    return name.startswith(_KEPT_FOR_LATER) or _is_named(scenario, name)


def _is_kept(entry: Path) -> bool:
    """Whether it notes a file that is there on purpose."""
    if entry.suffix != ".json":
        return False
    noted = msgspec.json.decode(entry.read_bytes(), type=Entry)
    return noted.kept and Path(noted.path).exists()


def _is_named(scenario: Scenario, name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in scenario.results)


def _is_of_a_run(path: Path) -> bool:
    return (
        path.name in _OF_A_RUN | _OF_A_JOB
        or path.suffix == ".lane"
        or path.parent.name == LOGS_NAME
    )


def _is_launchers(path: Path, name: str, scenario: Scenario) -> bool:
    if scenario.runs != "job":
        return False
    return any(fnmatch(name, pattern) for pattern in _OF_OPEN_MPI) or any(
        fnmatch(path.name, pattern) for pattern in _SHARED_BY_OPEN_MPI
    )


def clean(place: Place) -> list[str]:
    """`memgauge system --clean`, twice; what is wrong with what it said."""
    first = called(place, "system", "--clean")
    again = called(place, "system", "--clean")
    kept = [line for line in again.out.splitlines() if "kept on purpose" not in line]
    wrong = [f"--clean: exit code {one.code}: {one.error}" for one in (first, again) if one.code]
    if kept not in ([], [NOTHING]):
        wrong.append(f"--clean says a second time: {again.out}")
    return wrong


def pages_reserved() -> dict[str, str]:
    """Huge pages in each of the kernel's pools."""
    return {path.parent.name: path.read_text() for path in _POOLS.glob("*/nr_hugepages")}


@contextmanager
def pool_alone(scenario: Scenario) -> Iterator[None]:
    """The kernel's pool of 2 MiB pages for one test at a time."""
    if not scenario.reserves:
        yield
        return
    with (_POOLS / "hugepages-2048kB/nr_hugepages").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
