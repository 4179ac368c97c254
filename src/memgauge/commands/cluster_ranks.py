"""Being one rank of a cluster's survey: what `memgauge cluster` and a launched `survey` share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import click

from memgauge import api
from memgauge.cluster.launch import reports_for_all
from memgauge.commands.shared.options import requested
from memgauge.commands.shared.rank_errors import report_of_this_node, wait_for_the_reporting_rank
from memgauge.model.errors import ExitCode, MemgaugeError, RequestError
from memgauge.model.option import count_option, duration_option
from memgauge.model.parameters import CommonParameters, Parameters, RunOptions, words_for
from memgauge.model.storage.cluster import Manifest
from memgauge.model.termination import Terminated
from memgauge.model.text import few, plain

MOST_NODES = 1_000_000
MOST_NAMED = 8
"""Ranks named in a sentence."""


class ClusterOptions(Parameters, frozen=True, kw_only=True):
    """How nodes are measured together."""

    nodes_at_once: Annotated[
        int | None,
        count_option(
            "how many nodes measure at the same time; 1 avoids interference through what "
            "they share",
            1,
            MOST_NODES,
            automatic="all",
        ),
    ] = None
    grace_s: Annotated[
        float,
        duration_option(
            "how long a node may be silent, or late after its budget, before the job "
            "stops waiting for it",
            flag="--grace",
        ),
    ] = 60.0


def is_one_of_several() -> bool:
    """Whether a launcher started this process beside others."""
    from memgauge.cluster.launch import launch
    from memgauge.cluster.mpi import start_mpi

    seen = launch()
    if seen is None or seen.ranks == 1:
        return False
    if seen.ranks is not None:
        return True
    found = start_mpi("survey", finalize=False)
    if found.size == 1:
        found.mpi.Finalize()
    return found.size > 1


def survey_nodes(values: Mapping[str, Any], interrupted: Path | None = None) -> int:
    """Be one rank of the job, whatever the launcher; returns the exit code.

    What all ranks refuse is said by the first of them; that MPI is missing, which may be so on one
    node only, by the first of each node that its launcher leaves the time.

    Raises:
        RequestError: no launcher, no MPI, or options that cannot be met.
    """
    try:
        options, together, launcher = _requested(values, interrupted)
    except MemgaugeError as error:
        if reports_for_all():
            raise
        wait_for_the_reporting_rank()
        return error.exit_code
    try:
        return _survey_nodes(launcher, options, together, node_arguments(values))
    except MemgaugeError as error:
        report_of_this_node(error)


def _requested(
    values: Mapping[str, Any], interrupted: Path | None
) -> tuple[RunOptions, ClusterOptions, str]:
    """What the command line asks for, and the launcher's name; no MPI is loaded."""
    from memgauge.cluster.launch import launch

    if interrupted is not None:
        raise RequestError(
            "--resume: one node's run is completed by itself, without a launcher, as "
            "'memgauge survey --resume DIR/nodes/NAME'"
        )
    options = requested(RunOptions, values)
    requested(CommonParameters, values)
    api.surveyed(values.get("only"))
    together = requested(ClusterOptions, values)
    seen = launch()
    if seen is None:
        raise RequestError(
            "cluster: no launcher started it; start it as 'mpirun -n RANKS --hostfile HOSTS "
            "memgauge cluster' or 'srun memgauge cluster', or measure this machine alone with "
            "'memgauge survey'"
        )
    return options, together, seen.launcher


def _survey_nodes(
    launcher: str, options: RunOptions, together: ClusterOptions, arguments: list[str]
) -> int:
    from memgauge.cluster.mpi import start_mpi
    from memgauge.cluster.ranks import Rank
    from memgauge.cluster.start import begin

    found = start_mpi("cluster", finalize=False)
    rank = Rank(found, arguments)
    if found.rank != 0:
        try:
            rank.follow()
        except KeyboardInterrupt as error:
            # The first rank, which was ended too, says it.
            code = error.exit_code if isinstance(error, Terminated) else ExitCode.INTERRUPTED
            raise click.exceptions.Exit(code) from None
        found.mpi.Finalize()
        return ExitCode.DONE
    try:
        begun = begin(found, launcher, options, together.nodes_at_once, together.grace_s, arguments)
    except MemgaugeError:
        if not rank.dismiss():
            found.mpi.Finalize()
        raise
    outcome = rank.gather(begun.manifest, begun.directory, _say)
    _present(outcome.combined, as_json=options.json)
    if outcome.unresponsive:
        who = _named(outcome.unresponsive, outcome.combined.cluster.manifest)
        _say(f"ending the job, since these would not: {who}")
        found.abort(max(ExitCode.FAILED, outcome.exit_code))
    found.mpi.Finalize()
    return outcome.exit_code


def _present(combined: Any, *, as_json: bool) -> None:
    from memgauge.commands.shared.measure import say_where
    from memgauge.commands.shared.output import print_json, print_report

    if as_json:
        print_json(combined.document())
    else:
        print_report(combined.report, whole=False)
    say_where(combined.directory)


def _named(ranks: list[int], manifest: Manifest) -> str:
    """Ranks with their nodes."""
    nodes = {rank: node.name for node in manifest.nodes for rank in node.ranks}
    named = [f"rank {rank} of {nodes.get(rank, 'an unknown node')}" for rank in ranks]
    return few(named, MOST_NAMED)


def _say(text: str) -> None:
    click.echo(f"cluster: {plain(text)}", err=True)


def node_arguments(values: Mapping[str, Any]) -> list[str]:
    """The words of a node's own survey: what was asked of all."""
    structs = (CommonParameters, RunOptions)
    words = ["survey", *words_for(structs, values, leave_out={"output", "json"})]
    return words if values.get("only") is None else [*words, "--only", str(values["only"])]
