"""`mpirun -n 8 memgauge fft3d`: a distributed 3-D FFT with a timeline of each of its ranks."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.cluster.launch import reports_for_all
from memgauge.cluster.mpi import NodeLacks
from memgauge.commands.shared.measure import present, save
from memgauge.commands.shared.options import json_option, options_of, requested
from memgauge.commands.shared.output import print_and_write
from memgauge.commands.shared.rank_errors import (
    OneRankReports,
    report_of_this_node,
    wait_for_the_reporting_rank,
)
from memgauge.fft3d.job import Job, RankFailed
from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.model.errors import ExitCode, MemgaugeError
from memgauge.model.termination import Terminated
from memgauge.model.text import plain
from memgauge.model.units import format_count


@click.command("fft3d", cls=OneRankReports)
@options_of(Fft3dParameters)
@json_option
def command(*, as_json: bool, **values: Any) -> int:
    """Transform a distributed 3-D array and record a timeline of each rank.

    Start it with mpirun or srun: 'mpirun -n 8 memgauge fft3d --grid 2x4'. Each rank keeps a run of
    its own in DIR/rank-K with its phases marked: FFTs, four re-sortings, All2Alls. The first rank
    compares the result with a whole 3-D FFT and prints what all ranks took and, of the re-sortings,
    what traffic is expected. 'memgauge report DIR' prints it again, also of a job that was killed.
    """
    job = Job(speaks=reports_for_all())
    try:
        parameters = requested(Fft3dParameters, values)

        def begins(directory: Path, ranks: int) -> None:
            # Now, for a job that is killed says nothing at its end.
            if job.speaks:
                what = f"{format_count(ranks, 'rank')}, recorded in {directory}"
                _say(what)

        outcome = job.run(parameters, api.system(), begins, _say)
    except RankFailed as error:
        _say(str(error))
        job.end_all()
        return error.exit_code
    except NodeLacks as error:
        report_of_this_node(error)
    except MemgaugeError as error:
        if job.speaks:
            raise
        wait_for_the_reporting_rank()
        return error.exit_code
    except KeyboardInterrupt as error:
        _leave(job, error)
    if not outcome.speaks:
        return ExitCode.DONE
    result = api.load(outcome.directory)
    return print_and_write(partial(present, result, as_json=as_json), partial(save, result))


def _say(text: str) -> None:
    click.echo(f"memgauge: fft3d: {plain(text)}", err=True)


def _leave(job: Job, error: KeyboardInterrupt) -> None:
    """End at once: MPI may wait for ranks that are gone."""
    signalled = isinstance(error, Terminated)
    by = str(error) if signalled else "Ctrl-C"
    code = error.exit_code if isinstance(error, Terminated) else ExitCode.INTERRUPTED
    job.interrupted(by)
    if job.speaks:
        what = (
            "" if job.directory is None else f"; what was recorded: memgauge report {job.directory}"
        )
        also = ", which mpirun also sends when another rank has ended" if signalled else ""
        _say(f"ended by {by}{also}{what}")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
