"""Combined runs on disk: reads whatever results of nodes exist, and renders them."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.errors import MemgaugeError
from memgauge.model.storage.cluster import (
    FIGURES_NAME,
    LAST_WORD,
    MANIFEST_NAME,
    ClusterNode,
    Manifest,
    NodeFigures,
    log_path,
    node_directory,
    read_figures,
    read_manifest,
)
from memgauge.model.storage.files import read_end
from memgauge.model.storage.run_file import RECORDS_NAME, read_run
from memgauge.model.units import format_duration
from memgauge.reports.files import write_bytes, write_text
from memgauge.results import Analysed

if TYPE_CHECKING:
    from memgauge.analysis.cluster.groups import Cluster, Combined
    from memgauge.analysis.section import Report


LOG_END_BYTES = 64 << 10
"""Bytes read from the end of a survey's log, which contains its last messages."""


class CombinedRun(Analysed):
    """A combined run with its results. Rendering needs neither MPI nor the nodes."""

    def __init__(self, directory: Path, cluster: Cluster) -> None:
        self.directory = directory
        self.cluster = cluster

    @cached_property
    def combined(self) -> Combined:
        """The nodes, compared with each other."""
        from memgauge.analysis.cluster.groups import combine

        return combine(self.cluster)

    @cached_property
    def report(self) -> Report:
        """Sections with verdicts, tables and charts."""
        from memgauge.analysis.cluster.report import report_of

        return report_of(self.combined)

    def _figures(self) -> msgspec.Struct:
        from memgauge.analysis.cluster.document import cluster_document

        return cluster_document(self.combined)

    def save(self) -> None:
        """Write `summary.txt` and `report.html` beside the manifest."""
        write_text(self.directory / "summary.txt", self.text(), below=self.directory)
        write_text(self.directory / "report.html", self.html(), below=self.directory)


def load_combined(directory: Path, *, ending: bool = False) -> CombinedRun:
    """Read a combined run from its directory, complete or not.

    While the job is `ending`, ranks may still be about to write why they end.

    Raises:
        RunFileError: its manifest is missing or cannot be read.
    """
    from memgauge.analysis.cluster.groups import Cluster

    manifest = read_manifest(directory)
    if not ending:
        nodes = [_with_death(directory, node) for node in manifest.nodes]
        manifest = msgspec.structs.replace(manifest, nodes=nodes)
    figures: dict[str, NodeFigures] = {}
    missing: dict[str, str] = {}
    for node in manifest.nodes:
        found = figures_of_node(directory, node)
        if isinstance(found, NodeFigures):
            figures[node.name] = found
        else:
            missing[node.name] = found
    return CombinedRun(directory, Cluster(manifest=manifest, figures=figures, missing=missing))


def figures_of_node(directory: Path, node: ClusterNode) -> NodeFigures | str:
    """The node's own figures, or figures computed from its records now; else why there are none."""
    place = node_directory(directory, node.name)
    records_bytes = _records_bytes(place)
    if os.path.isfile(place / FIGURES_NAME):  # noqa: PTH113 - never raises
        try:
            found = read_figures(place / FIGURES_NAME)
        except MemgaugeError as error:
            return str(error)
        if records_bytes is None or found.records_bytes in {None, records_bytes}:
            return found
    if records_bytes is not None:
        try:
            return figures_of_records(place)
        except MemgaugeError as error:
            return f"{_why(node)}; {error}"
    return _why(node)


def _records_bytes(place: Path) -> int | None:
    """The number of bytes of the records; None if there are none."""
    try:
        return (place / RECORDS_NAME).stat().st_size
    except (OSError, ValueError):
        return None


def figures_of_records(place: Path) -> NodeFigures | str:
    """The figures of a node's run, or why it has none.

    Raises:
        MemgaugeError: its records cannot be read.
    """
    from memgauge.analysis.cluster.node import node_figures

    run = read_run(place)
    if not any(run.samples.values()):
        if run.end is not None and run.end.status == "budget":
            spent = format_duration(run.starts[-1].budget_s)
            return f"its budget of {spent} was spent on preparation; increase --budget"
        return "its survey ended before anything was measured"
    return node_figures(run)


def write_figures(place: Path) -> str | None:
    """Write the figures beside the records of a node's run; return why that failed, else None."""
    try:
        found = figures_of_records(place)
        if isinstance(found, str):
            return found
        found = msgspec.structs.replace(found, records_bytes=_records_bytes(place))
        write_bytes(place / FIGURES_NAME, msgspec.json.encode(found), below=place)
    except MemgaugeError as error:
        return str(error)
    return None


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest, completely or not at all.

    Raises:
        SystemFailure: it cannot be written.
    """
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    write_bytes(directory / MANIFEST_NAME, encoded + b"\n")


def _with_death(directory: Path, node: ClusterNode) -> ClusterNode:
    """Add that a node's leading rank was killed, if that rank left no message itself."""
    if node.state not in {"measuring", "cut short"}:
        return node
    try:
        said = read_end(log_path(directory, node.name), LOG_END_BYTES)
    except OSError:
        return node
    if LAST_WORD.encode() in said:
        return node
    why = (
        f"its leading rank, {node.ranks[0]}, died without reporting why" if node.ranks else node.why
    )
    return msgspec.structs.replace(node, why=why)


def _why(node: ClusterNode) -> str:
    if node.why:
        return node.why
    if node.state in {"waiting", "measuring"}:
        return f"it was {node.state} when the job was killed"
    if node.directory:
        return f"its files are on that node, in {node.directory}"
    return "its files are lost"
