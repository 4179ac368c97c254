"""`memgauge cluster`: one survey on each node of an MPI job, and one report of all."""

from __future__ import annotations

from typing import Any

import click

from memgauge.commands.cluster_ranks import ClusterOptions, survey_nodes
from memgauge.commands.shared.options import options_of
from memgauge.commands.shared.rank_errors import OneRankReports
from memgauge.commands.survey import only_option
from memgauge.model.parameters import CommonParameters, RunOptions


@click.command("cluster", cls=OneRankReports)
@options_of(CommonParameters, RunOptions, ClusterOptions)
@only_option
def command(**values: Any) -> int:
    """Survey each node of an MPI job, and make one report of all.

    Start it as 'mpirun -n 2 --hostfile HOSTS memgauge cluster' or 'srun memgauge cluster', with one
    rank or more on each node: the first of a node runs its survey, the others sleep. A node that
    dies or hangs is reported, and the others' results are kept. 'memgauge report' renders the
    combined run again. Needs memgauge[mpi].
    """
    return survey_nodes(values)
