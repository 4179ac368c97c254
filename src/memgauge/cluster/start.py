"""The beginning of a combined run: its directory and its manifest."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from memgauge.cluster.combined import write_manifest
from memgauge.cluster.mpi import StartedMpi
from memgauge.model.errors import RequestError
from memgauge.model.parameters import RunOptions
from memgauge.model.storage.cluster import CLUSTER_VERSION, Manifest
from memgauge.model.storage.run_file import run_directory
from memgauge.model.text import plain
from memgauge.system.environment.software import memgauge_version


class Begun(msgspec.Struct, frozen=True):
    """The state with which rank 0 starts."""

    manifest: Manifest
    directory: Path
    """Absolute."""


def begin(  # noqa: PLR0913, PLR0917 - what a manifest holds
    world: StartedMpi,
    launcher: str,
    options: RunOptions,
    nodes_at_once: int | None,
    grace_s: float,
    arguments: list[str],
) -> Begun:
    """Create the directory, with a manifest by which other nodes recognise it.

    Args:
        world: The started MPI, which tells the number of ranks.
        launcher: Name of what started the ranks, such as `mpirun of Open MPI`.
        options: Those of the command: where the combined run goes, and the budget of each node.
        nodes_at_once: Most nodes that measure at the same time; None means all.
        grace_s: Seconds that a node may be silent, or late after its budget, before it is given up.
        arguments: Arguments of each node's survey, except for its directory.

    Raises:
        RequestError: the directory is not empty, or cannot be created.
        SystemFailure: it cannot be written.
    """
    # A combined run that cannot begin leaves no directory behind.
    with run_directory(options.output, "cluster") as chosen:
        directory = chosen.absolute()
        _make(directory)
        manifest = Manifest(
            format_version=CLUSTER_VERSION,
            memgauge_version=memgauge_version(),
            cluster_id=uuid.uuid4().hex[:12],
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            launcher=launcher,
            mpi=world.library,
            ranks=world.size,
            arguments=arguments,
            budget_s=options.budget_s,
            nodes_at_once=nodes_at_once,
            grace_s=grace_s,
            nodes=[],
        )
        write_manifest(directory, manifest)
    return Begun(manifest, directory)


def _make(directory: Path) -> None:
    shown = plain(str(directory))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise RequestError(f"{shown}: not empty; name a new or empty directory")
    except OSError as error:
        raise RequestError(
            f"{shown}: cannot hold a run: {error.strerror}; name another directory"
        ) from error
