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
"""Written after a survey's output by a leading rank that is ordered to end. A killed rank does not
write it, which distinguishes the node that died from those that were ended because of it."""

State = Literal["waiting", "measuring", "done", "failed", "given up", "cut short"]
"""waiting: not yet begun. done: its survey ended by itself, with any result. failed: its survey
ended with an error. given up: it sent no message in time. cut short: the job was ended."""

LEAST_VALUE, MOST_VALUE = 1e-9, 1e12
"""Largest figure in GB/s or ns; larger values cannot be measurements and would overflow ratios."""

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
    """Name of its directory: the host name, made unique if two are equal."""
    hostname: str
    boot: str
    """Digest of the boot it ran under: nodes of one boot are one machine. Empty if unknown."""
    ranks: list[int]
    """The first leads."""
    cpus: int
    """Number of CPUs of its survey."""
    cpus_why: str
    """Description of these CPUs."""
    state: State = "waiting"
    why: str | None = None
    """Reason for a state other than done."""
    elapsed_s: float | None = None
    """Duration of its survey; None if it did not begin."""
    exit_code: int | None = None
    """Exit code of its survey; None if unknown."""
    sent: bool = False
    """Whether its files were sent through MPI, because it does not share the directory."""
    directory: str | None = None
    """Directory of its files on the node, if not below the manifest."""


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
    """Ranks that never reported their node."""
    ended: bool = False
    """False if the job is still running or was killed; the files on disk are then all there is."""


class FigureOfNode(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one node."""

    name: _Name
    """Figures of equal names and regimes mean the same."""
    regime: _Name
    """Kind of distance between its threads; empty if there is only one."""
    unit: _Name
    direction: Literal["higher", "lower"]
    """Which is better."""
    statistic: str
    """Description of what is counted, and how."""
    value: _Value
    low: _End | None
    """Ends of the 95% interval; None: too few independent samples for one."""
    high: _End | None


class NodeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Results of a node's own analysis of its run: everything that combining nodes needs."""

    format_version: _Version
    memgauge_version: str
    run_id: str
    started_at: str
    status: str
    """One line, as in the report of its run."""
    ended: Literal["complete", "budget", "interrupted", "failed"] | None
    """None: killed, or still being written."""
    facts: dict[str, str]
    """Facts about machine and system, as reported; compared as text."""
    shares: dict[str, _Share]
    """Shares of processor time: `steal`, `other programs`; missing if unknown."""
    clock_ghz: _Value | None
    """Median of the measured core clock, or the kernel's value."""
    cpus: _Count
    """Online."""
    sockets: _Count
    numa_nodes: _Count
    figures: list[FigureOfNode]
    records_bytes: int | None = None
    """Length of the records when the figures were made; a resumed run has more. None if unknown."""
    problems: list[str] = []
    """Verdicts of its report on problems, above all failed validations."""


def is_cluster(path: Path) -> bool:
    """Whether a user's path is a combined run."""
    return os.path.isfile(path / MANIFEST_NAME)  # noqa: PTH113 - never raises


def node_directory(directory: Path, name: str) -> Path:
    """Directory of a node's run."""
    return directory / NODES_NAME / name


def log_path(directory: Path, name: str) -> Path:
    """File with the output of a node's survey."""
    return directory / LOGS_NAME / f"{name}.log"


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a combined run.

    Raises:
        RunFileError: it is missing, or cannot be read.
    """
    found = _read(directory / MANIFEST_NAME, Manifest)
    names = [node.name for node in found.nodes]
    if len(set(names)) < len(names) or not all(is_name(name) for name in names):
        raise RunFileError(f"{shown(directory / MANIFEST_NAME)}: names of nodes are not usable")
    return found


def read_figures(path: Path) -> NodeFigures:
    """The figures of a node.

    Raises:
        RunFileError: they are missing, or cannot be read.
    """
    return _read(path, NodeFigures)


def is_name(name: str) -> bool:
    """Whether a node's name is a single, short component of a path other than `.` or `..`."""
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
            f"{shown(path)}: does not describe a combined run: {shortened(why, 200)}; name the "
            "directory "
            "that 'memgauge cluster' wrote"
        ) from error
    if found.format_version > CLUSTER_VERSION:
        raise RunFileError(
            f"{shown(path)}: written by a later memgauge, in format version "
            f"{shortened(str(found.format_version), 20)}, and this memgauge reads versions up to "
            f"{CLUSTER_VERSION}; use the later memgauge"
        )
    return found
