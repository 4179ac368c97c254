"""A combined run of many nodes on disk: a manifest, and for each node a run and its figures.

- `cluster.json`: the manifest
- `nodes/NAME/`: a node's run, as any other, with `figures.json`, what its own analysis made of it
- `logs/NAME.log`: what its survey printed
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from memgauge.model.errors import RunFileError
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file
from memgauge.model.text import shortened, shown

CLUSTER_VERSION = 1
MANIFEST_NAME = "cluster.json"
FIGURES_NAME = "figures.json"
NODES_NAME = "nodes"
LOGS_NAME = "logs"
LAST_WORD = "cluster: this node's survey was stopped, since its leading rank got"
"""What a leading rank that is ordered to end writes behind the words of its survey. One that is
killed does not, which tells the node that died from those that were ended because of it."""

State = Literal["waiting", "measuring", "done", "failed", "given up", "cut short"]
"""waiting: not yet begun. done: its survey ended by itself, whatever it says. failed: its survey
ended with an error. given up: it was not heard of in time. cut short: the job was ended."""

LEAST_VALUE, MOST_VALUE = 1e-9, 1e12
"""In GB/s or ns; what lies beyond is no measurement, and would overflow ratios."""

MOST_BYTES = 16 << 20
"""Of a manifest, which takes some 500 bytes for each node, or of the figures of a node."""
MOST_NAME = 200
"""Characters of a node's name: file systems take 255 bytes, and something is appended to it."""

_Version = Annotated[int, msgspec.Meta(ge=1)]
_Value = Annotated[float, msgspec.Meta(ge=LEAST_VALUE, le=MOST_VALUE)]
_End = Annotated[float, msgspec.Meta(ge=0, le=MOST_VALUE)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 31)]
_Name = Annotated[str, msgspec.Meta(max_length=300)]


class ClusterNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a combined run."""

    name: str
    """Its directory's: the host name, distinguished where two are the same."""
    hostname: str
    boot: str
    """Digest of the boot it ran under: nodes of one boot are one machine. Empty: not known."""
    ranks: list[int]
    """The first leads."""
    cpus: int
    """CPUs its survey was given."""
    cpus_why: str
    """Which these are, in words."""
    state: State = "waiting"
    why: str | None = None
    """Of a state that is not done, in words."""
    elapsed_s: float | None = None
    """From the start of its survey; None: it did not begin."""
    exit_code: int | None = None
    """Of its survey; None: not known."""
    sent: bool = False
    """Its files came through MPI, since it does not see the directory."""
    directory: str | None = None
    """Where the node keeps them, where that is not below the manifest."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """How nodes were measured together."""

    format_version: _Version
    memgauge_version: str
    cluster_id: str
    started_at: str
    """ISO 8601, UTC."""
    launcher: str
    mpi: str
    """Name and version of the library."""
    ranks: int
    arguments: list[str]
    """Of each node's survey."""
    budget_s: float
    """Of each node."""
    nodes_at_once: int | None
    """None: all."""
    grace_s: float
    nodes: list[ClusterNode]
    unheard: list[int] = []
    """Ranks that never sent where they are."""
    ended: bool = False
    """False: still going on, or the job was killed; what stands on disk is then what there is."""


class FigureOfNode(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one node."""

    name: _Name
    """Figures of equal names and regimes mean the same."""
    regime: _Name
    """Kind of distance between its threads; empty: there is but one."""
    unit: _Name
    direction: Literal["higher", "lower"]
    """Which is better."""
    statistic: str
    """What is counted, and how, in words."""
    value: _Value
    low: _End | None
    """Ends of the 95% interval; None: too few independent samples for one."""
    high: _End | None


class NodeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's own analysis made of its run: all that combining nodes needs."""

    format_version: _Version
    memgauge_version: str
    run_id: str
    started_at: str
    status: str
    """One line, as in the report of its run."""
    ended: Literal["complete", "budget", "interrupted", "failed"] | None
    """None: killed, or still being written."""
    facts: dict[str, str]
    """Of machine and system, as they are reported; compared word for word."""
    shares: dict[str, _Share]
    """Shares of processors' time: `steal`, `other programs`; missing: not known."""
    clock_ghz: _Value | None
    """Median of what was measured of the core clock, or what the kernel reported."""
    cpus: _Count
    """Online."""
    sockets: _Count
    numa_nodes: _Count
    figures: list[FigureOfNode]
    records_bytes: int | None = None
    """Length of the records they were made of: a run that was resumed has more. None: not known."""
    problems: list[str] = []
    """Verdicts of its report that say that something is wrong: failed validations above all."""


def is_cluster(path: Path) -> bool:
    """Whether a path given by a user is a combined run."""
    return os.path.isfile(path / MANIFEST_NAME)  # noqa: PTH113 - never raises


def node_directory(directory: Path, name: str) -> Path:
    """Where a node's run is."""
    return directory / NODES_NAME / name


def log_path(directory: Path, name: str) -> Path:
    """Where a node's survey printed to."""
    return directory / LOGS_NAME / f"{name}.log"


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a combined run.

    Raises:
        RunFileError: there is none, or it cannot be read.
    """
    found = _read(directory / MANIFEST_NAME, Manifest)
    names = [node.name for node in found.nodes]
    if len(set(names)) < len(names) or not all(is_name(name) for name in names):
        raise RunFileError(f"{shown(directory / MANIFEST_NAME)}: names of nodes are not usable")
    return found


def read_figures(path: Path) -> NodeFigures:
    """The figures of a node.

    Raises:
        RunFileError: there are none, or they cannot be read.
    """
    return _read(path, NodeFigures)


def is_name(name: str) -> bool:
    """Whether a node's name is one component of a path, short enough for one, and no step up."""
    allowed = name.replace("-", "").replace(".", "").replace("_", "")
    fits = len(name) <= MOST_NAME and not name.startswith((".", "-"))
    return fits and allowed.isascii() and allowed.isalnum()


_Kind = TypeVar("_Kind", Manifest, NodeFigures)


def _read(path: Path, kind: type[_Kind]) -> _Kind:
    try:
        found = msgspec.json.decode(read_file(path, MOST_BYTES), type=kind)
    except OSError as error:
        raise RunFileError(f"{shown(path)}: cannot be read: {error.strerror}") from error
    except UNREADABLE as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RunFileError(
            f"{shown(path)}: is not of a combined run: {shortened(why, 200)}; name the directory "
            "that 'memgauge cluster' wrote"
        ) from error
    if found.format_version > CLUSTER_VERSION:
        raise RunFileError(
            f"{shown(path)}: written by a later memgauge, in version "
            f"{shortened(str(found.format_version), 20)} of the format, and this one reads up to "
            f"{CLUSTER_VERSION}; read it with that one"
        )
    return found
