"""`mpirun -n 8 memgauge fft3d`: a distributed 3-D FFT with a timeline of each of its ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.cluster.launch import speaks_for_all
from memgauge.cluster.mpi import NodeLacks
from memgauge.commands.measure import present, save
from memgauge.commands.options import given, options_of
from memgauge.commands.speaking import OneSpeaks, say_of_this_node, wait_for_the_speaker
from memgauge.fft3d.job import Job, RankFailed
from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.model.errors import ExitCode, MemgaugeError
from memgauge.model.parameters import build
from memgauge.model.termination import Terminated
from memgauge.model.text import plain
from memgauge.model.units import format_count


@click.command("fft3d", cls=OneSpeaks)
@options_of(Fft3dParameters)
@click.option("--json", "as_json", is_flag=True, help="print one JSON document and nothing else")
def command(*, as_json: bool, **values: Any) -> int:
    """Transform a distributed 3-D array and record a timeline of each rank.

    Start it with mpirun or srun: 'mpirun -n 8 memgauge fft3d --grid 2x4'. Each rank keeps a run of
    its own in DIR/rank-K with its phases marked: FFTs, four re-sortings, All2Alls. The first rank
    compares the result with a whole 3-D FFT and prints what all ranks took and, of the re-sortings,
    what traffic is expected. 'memgauge report DIR' prints it again, also of a job that was killed.
    """
    job = Job(speaks=speaks_for_all())
    try:
        parameters = build(Fft3dParameters, **given(Fft3dParameters, values))

        def begins(directory: Path, ranks: int) -> None:
            # Now, for a job that is killed says nothing at its end.
            if job.speaks:
                what = f"{format_count(ranks, 'rank')}, recorded in {directory}"
                click.echo(f"memgauge: fft3d: {plain(what)}", err=True)

        outcome = job.run(parameters, api.system(), begins)
    except RankFailed as error:
        click.echo(f"memgauge: fft3d: {plain(str(error))}", err=True)
        job.end_all()
        return error.exit_code
    except NodeLacks as error:
        say_of_this_node(error)
    except MemgaugeError as error:
        if job.speaks:
            raise
        wait_for_the_speaker()
        return error.exit_code
    except KeyboardInterrupt as error:
        _leave(job, error)
    if not outcome.speaks:
        return ExitCode.DONE
    result = api.load(outcome.directory)
    code = present(result, as_json=as_json)
    save(result)
    return code


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
        click.echo(f"memgauge: fft3d: ended by {by}{also}{plain(what)}", err=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
