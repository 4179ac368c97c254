"""The Python API behind `import memgauge`: run experiments, load runs, look at what they say."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memgauge.model.arguments import name_of, path_of, text_of, words_of
from memgauge.model.errors import RequestError, SystemFailure, ValidationFailed
from memgauge.model.experiments import SURVEYED, SURVEYED_COMMANDS
from memgauge.model.parameters import CommonParameters, RunOptions, build, fields_of
from memgauge.model.storage.run_file import run_directory
from memgauge.model.text import quoted
from memgauge.results import CORRUPT, ProfiledJob, Published, Result, Simulation, load_run

if TYPE_CHECKING:
    from memgauge.cluster.combined import CombinedRun
    from memgauge.comparing import Compared
    from memgauge.counters.regions import Counters
    from memgauge.experiments.shared.base import Experiment
    from memgauge.model.cache_machine import CacheMachine
    from memgauge.model.counting.events import BackEndState
    from memgauge.model.records import MeasuredCurve
    from memgauge.model.simulated_program import By, Engine
    from memgauge.model.system import System
    from memgauge.store.trended import Trended


def compare(
    *sources: str | Path | Result | Sequence[str | Path | Result], only: str | None = None
) -> Compared:
    """Runs or published results (`reference:nvdimm-dram`) side by side; the first is the baseline.

    A source may also be a file that another tool wrote, such as STREAM: see docs/interchange.md.
    A side of several runs is a list of them, their names separated by commas, or a directory that
    `memgauge survey --repeat` made. `only` keeps figures whose names match a glob, such as
    `stream/copy/*`.

    Raises:
        RunFileError: a source is no run.
        RequestError: fewer than two sources, an unknown reference, runs that cannot be one side,
            or nothing to compare.
    """
    from memgauge.analysis.comparison import ratios as comparison
    from memgauge.analysis.comparison.refusals import refuse_nothing, refuse_sides
    from memgauge.analysis.comparison.sides import side_of
    from memgauge.comparing import Compared, runs_of, source_of

    if len(sources) < 2:
        raise RequestError(
            f"compare: {len(sources) or 'no'} source{'s' * (len(sources) != 1)} given, but two or "
            "more are needed; give directories of runs, or names that 'memgauge compare --list' "
            "prints"
        )
    sides = [[source_of(one) for one in runs_of(source)] for source in sources]
    refuse_sides(sides)
    if only is not None:
        kept = text_of(only, "compare: only")
        sides = [[comparison.only(one, kept) for one in side] for side in sides]
    opened = [side_of(side) for side in sides]
    made = comparison.compare(opened)
    refuse_nothing(opened, made, only)
    return Compared(made)


def trend(
    *sources: str | Path,
    machine: str | None = None,
    only: str | None = None,
    since: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Trended:
    """Many runs of one machine or of a fleet over time: what changed, when, by how much, where.

    Args:
        sources: Directories of runs, files of other tools, directories that hold them, or one store
            of figures.
        machine: Of a store the machine to look at, of runs the machine that they are of; None: all
            of a store, and of runs as their directories are named.
        only: Glob that selects figures by name; None: all, and of many machines the key figures.
        since: Time before the newest run, such as `90d`; None: all runs.
        on_progress: Called with the share that is done.

    Raises:
        RunFileError: a source cannot be read.
        RequestError: no source holds a run, or none of its figures matches.
    """
    from memgauge.store.trend import trended

    paths = [path_of(source, "trend") for source in sources]
    return trended(
        paths,
        machine=None if machine is None else text_of(machine, "machine"),
        only=None if only is None else text_of(only, "only"),
        since=None if since is None else text_of(since, "since"),
        on_progress=on_progress,
    )


def add_to_store(store: str | Path, *runs: str | Path, machine: str | None = None) -> list[Path]:
    """Add the figures of runs to a store, each as a file of its own; returns the files.

    Args:
        store: Directory of the store; made if it does not exist.
        runs: Directories of runs, or directories that hold some.
        machine: Name of the machine that they are of; None: this host's.

    Raises:
        RunFileError: a run cannot be read.
        RequestError: it has no figures, polars is not installed, or the directory holds something
            else than a store.
        SystemFailure: the store cannot be written.
    """
    from memgauge.store.trend import added

    paths = [path_of(one, "add_to_store") for one in runs]
    name = None if machine is None else text_of(machine, "machine")
    return added(path_of(store, "add_to_store"), paths, name)


def load(path: str | Path) -> Result:
    """A run from its directory.

    Raises:
        RunFileError: it is no run, or of a newer version.
    """
    return load_run(path)


def combined(path: str | Path) -> CombinedRun:
    """A combined run of nodes (`memgauge cluster`) from its directory, whole or not.

    Raises:
        RunFileError: it is none, or of a newer version.
    """
    from memgauge.cluster.combined import load_combined

    return load_combined(path_of(path, "combined"))


def profiled_job(path: str | Path) -> ProfiledJob:
    """The job of a profile under mpirun or srun, from its directory, whole or not.

    Raises:
        RunFileError: it is none, or of a newer version.
    """
    return ProfiledJob(path_of(path, "profiled_job"))


def published(name: str) -> Published:
    """A published table, such as `reference:altra-dmc620`, with a report of its own.

    Counts of memory controllers, and bandwidth of threads split between two memories, are analysed
    as those of a run are; other tables are shown as published, with the figures they hold.

    Raises:
        RequestError: the library has no such set.
    """
    return Published(text_of(name, "published"))


def tool_output(path: str | Path) -> Published:
    """What another tool wrote, such as STREAM or Intel MLC: its figures, with a report.

    Args:
        path: File, or a directory of Mess's curves; docs/interchange.md lists the tools.

    Raises:
        RequestError: it is nothing that one of these tools wrote, or of several of them.
    """
    from memgauge.references.foreign.files import no_output, read_foreign

    found = path_of(path, "tool_output")
    foreign = read_foreign(found)
    if foreign is None:
        raise RequestError(no_output(found))
    return Published(foreign)


def events() -> list[BackEndState]:
    """Back ends of counters with the events each knows here, also those it may not open."""
    from memgauge.counters.host import this_host
    from memgauge.counters.registry import states
    from memgauge.system.native import load_core

    load_core()
    return states(this_host())


def counters(*events: str, pid: int | None = None) -> Counters:
    """Counters around a piece of this program; `auto` (the default): memory traffic.

    Events that can be bound to a process count `pid`, this one unless given, with all its threads.

    Raises:
        UnknownEvent, CounterRefused, RequestError: one is not known, or cannot be counted here.
    """
    from memgauge.counters.regions import Counters

    return Counters(*events, pid=pid)


def region(name: str) -> AbstractContextManager[None]:
    """Mark a stretch of this program for `memgauge profile`; nothing where it is not profiled."""
    from memgauge.counters.marks import region as marked

    return marked(text_of(name, "region"))


def system() -> System:
    """What was found about this machine."""
    from memgauge.system.detect import detect

    return detect()


def machine(name: str = "this") -> CacheMachine:
    """The caches of a machine to simulate: one that ships, this one, or a TOML file's.

    Raises:
        RequestError: there is none of that name, the file is none of a machine, or its caches make
            no sense together.
    """
    return _caches_of(name_of(name, "machine"))


def simulate(
    command: Sequence[str],
    *,
    machine: str = "this",
    engine: Engine = "callgrind",
    by: By | None = None,
    by_region: bool = False,
) -> Simulation:
    """Execute a program by valgrind and simulate what it reads from and writes to memory.

    The program shares the standard input and output of the caller.

    Args:
        command: Words of the program's command line.
        machine: Machine whose caches are simulated: `this` one, a name that `memgauge machines`
            lists, or the path of a TOML file.
        engine: `callgrind` simulates two levels, child processes too; `trace` simulates all levels,
            of the program alone, and is slower.
        by: Attribute the traffic to each `function` or source `line`; only callgrind can.
        by_region: Attribute it to each region that the program marks, too; only callgrind can.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such program.
        RequestError: valgrind is missing, or cannot execute it; no such machine; an engine that
            knows no functions.
        SimulationFailed: valgrind was started and simulated nothing.
    """
    from memgauge.simulation.program import simulate_program

    words = words_of(command, "simulate")
    if not words:
        raise RequestError("simulate: no command was given; give a list of words")
    caches = _caches_of(name_of(machine, "simulate: machine"))
    return Simulation(simulate_program(words, caches, engine, by=by, by_region=by_region))


def _caches_of(name: str) -> CacheMachine:
    from memgauge.experiments.shared.cache_machines import load_simulable
    from memgauge.model.cache_machine import THIS

    return load_simulable(name, system() if name == THIS else None)


def survey(*, only: str | None = None, **options: Any) -> Result:
    """Every experiment, or `only` some (`stream,latency`), inside one budget.

    Options are those of `memgauge survey`.
    """
    return _run(surveyed(only), "survey", options)


def survey_plan(
    *, only: str | None = None, machine_tree: str | Path | None = None, **options: Any
) -> str:
    """What a survey would do and take: set-up, rounds, memory, and what it would leave out.

    Nothing is measured or allocated. Options are those of `memgauge survey`; `machine_tree` is the
    root of a copy of another machine's /sys and /proc.

    Raises:
        RequestError: no experiment can be measured there.
    """
    chosen, run_options = _requested(surveyed(only), options)
    return predicted(chosen, run_options.budget_s, machine_tree)


def predicted(
    chosen: Sequence[tuple[Experiment, CommonParameters]],
    budget_s: float,
    machine_tree: str | Path | None,
) -> str:
    """The text of `survey_plan`.

    Args:
        chosen: Experiments with their requested parameters.
        budget_s: How long the survey may take, in seconds.
        machine_tree: Root of a copy of another machine's /sys and /proc; None: this machine.
    """
    from memgauge.runner.prediction import predict
    from memgauge.system.detect import detect

    machine = system() if machine_tree is None else detect(path_of(machine_tree, "machine_tree"))
    return "\n".join(predict(chosen, machine, budget_s).lines()) + "\n"


def surveyed(only: str | None) -> list[str]:
    """Names of the experiments of a survey; all unless some were chosen.

    Raises:
        RequestError: there is no such experiment.
    """
    from memgauge.model.option import choices_option

    if only is None:
        return list(SURVEYED)
    words = choices_option("", list(SURVEYED_COMMANDS)).parse(text_of(only, "--only"), "--only")
    return [SURVEYED_COMMANDS[word].name for word in words]


@cache
def experiment(name: str) -> Callable[..., Result]:
    """The function of an experiment that a survey runs too, such as `memgauge.stream`."""

    def run(**options: Any) -> Result:
        return _run([name], name, options)

    run.__name__ = run.__qualname__ = name
    run.__module__ = "memgauge"
    command = " ".join(SURVEYED[name].words)
    run.__doc__ = f"{SURVEYED[name].summary} Options are those of `memgauge {command}`."
    return run


def repeat(name: str, runs: int, *, only: str | None = None, **options: Any) -> list[Result]:
    """Measure several times, each in a fresh process, so that what varies between runs is seen.

    The runs are `run-1` and on in the directory `output`, which `compare` takes as one side; every
    run knows the headline figures of those before it.

    Args:
        name: `survey`, or an experiment of one, such as `stream`.
        runs: How many.
        only: Experiments of a survey, as text.
        **options: Those of the function of that name.

    Raises:
        RequestError: there is no such experiment, or an option is wrong; nothing was measured.
        SystemFailure: a run failed and has stated why on standard error; what was measured stays.
    """
    from memgauge.cluster.series import measure_series, words_of_run

    is_survey = text_of(name, "repeat: name") == "survey"
    if not is_survey and (name not in SURVEYED or only is not None):
        raise RequestError(
            f"repeat: {quoted(name)} cannot be repeated; choose survey, with only= for some of its "
            f"experiments, or one of {', '.join(SURVEYED)}"
        )
    chosen, run_options = _requested(surveyed(only) if is_survey else [name], options)
    struct = CommonParameters if is_survey else type(chosen[0][1])
    command = name if is_survey else SURVEYED[name].words[0]
    words = words_of_run(command, [struct, RunOptions], options)
    words += [] if only is None else [f"--only={only}"]
    return [load(run) for run in measure_series(runs, words, run_options.output, name)]


def traffic(kernel: str, **options: Any) -> Result:
    """Expected, simulated and measured traffic. Options are those of `memgauge traffic`."""
    return _run(["traffic"], "traffic", options | {"kernel": text_of(kernel, "traffic")})


def diagnose(command: Sequence[str] = (), **options: Any) -> Result:
    """What limits a program, and what would help. Options are those of `memgauge diagnose`.

    Args:
        command: Words of the program's command line; empty if `pid=` names a process.
        **options: In text form or as native values.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such program.
        RequestError: an option is wrong, or there is no such process.
        SystemFailure: the program or the metric's command failed, or the process ended.
    """
    from memgauge.experiments.diagnose.parameters import DiagnoseRunOptions

    words = shlex.join(words_of(command, "diagnose"))
    return _run(["diagnose"], "diagnose", options | {"command": words}, run=DiagnoseRunOptions)


def counters_verify(**options: Any) -> Result:
    """Verdicts on counters, which are kept. Options are those of `memgauge counters verify`."""
    result = _run(["counters_verify"], "counters_verify", options)
    keep_verdicts(result)
    return result


def counters_compare(one: str, other: str, **options: Any) -> Result:
    """Two routes to the same counters. Options are those of `memgauge counters compare`."""
    named = [text_of(route, "counters_compare") for route in (one, other)]
    return _run(["counters_compare"], "counters_compare", options | {"back_ends": ",".join(named)})


def keep_verdicts(result: Result) -> Path | None:
    """Keep the verdicts on counters for this machine and kernel; None where the run has none.

    Raises:
        SystemFailure: they cannot be written.
    """
    from memgauge.analysis.counters_verify.section import event_verdicts
    from memgauge.counters.verdicts import keep, place_of

    place = place_of()
    found = [
        msgspec.structs.replace(
            one,
            machine=place.machine,
            kernel=place.kernel,
            driver=place.driver if one.gpu else None,
        )
        for one in event_verdicts(result.run)
    ]
    return keep(place, found) if found else None


def profile(command: Sequence[str] = (), **options: Any) -> Result:
    """Run a command, or attach to `pid=`, and record one timeline beside it until it ends.

    Options are those of `memgauge profile`: pid, rate, components, counters, by_thread and output.
    How the command ended stands in `result.run.processes`.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such command.
        RequestError: nothing can be watched, the process cannot be attached to, or the run cannot
            be recorded there; the command was not started.
        SystemFailure: the disk is full or failing; the command was not started, or it has ended and
            nothing of its record can be read.
    """
    from memgauge.runner.profiling.parameters import ProfileParameters
    from memgauge.runner.profiling.profile import ProfileRequest
    from memgauge.runner.profiling.profile import profile as watch

    parameters = build(ProfileParameters, **options)
    words = words_of(command, "profile")
    if bool(words) == (parameters.pid is not None):
        raise RequestError("profile: give either a command, as a list of words, or pid=")
    with run_directory(parameters.output, "profile") as directory:
        request = ProfileRequest(
            command=words,
            parameters=parameters,
            directory=directory,
            system=system(),
        )
        done = watch(request)
    if done.run is None:
        raise SystemFailure(f"profile: not recorded: {done.failure}")
    return Result(done.run, directory)


def watch(**options: Any) -> Result:
    """Watch memory for a time, record it, and return what was seen.

    Options are those of `memgauge watch`. One of them, `duration_s` (`--for`), must be given. What
    is seen is recorded whether or not `record` is true.

    Raises:
        RequestError: no time is given; something is to be served, which only the command does; the
            probe, a process or the record cannot be had.
        SystemFailure: the record ended early: the disk is full or failing.
    """
    from memgauge.runner.watching.parameters import WatchParameters
    from memgauge.runner.watching.watch import View, WatchRequest, probe_cpu
    from memgauge.runner.watching.watch import watch as watching

    parameters = build(WatchParameters, **options)
    if parameters.duration_s is None:
        raise RequestError('watch: give a time, such as duration_s="10m"')
    if parameters.listen is not None or parameters.browser:
        raise RequestError("watch: only the command serves metrics and pages; run memgauge watch")
    machine = system()
    cpu = probe_cpu(parameters, machine)
    with run_directory(parameters.output, "watch") as directory:
        request = WatchRequest(
            parameters=parameters,
            system=machine,
            cpu=cpu,
            directory=directory,
            curves=watched_curves(parameters.curves, machine),
        )
        done = watching(request, View())
    if done.failure is not None:
        raise SystemFailure(f"watch: {done.failure}")
    return load_run(directory)


def watched_curves(run: str | None, machine: System) -> list[MeasuredCurve]:
    """Curves that counted traffic is held against.

    Args:
        run: Directory of a run of `survey` or `loaded`; None: none was named.
        machine: This one.

    Raises:
        RunFileError: it is no run.
        RequestError: it is of another machine, or has no latency under load.
    """
    return [] if run is None else load_run(run).curves_of(machine.machine_id)


def _run(
    names: Sequence[str], name: str, options: dict[str, Any], *, run: type[RunOptions] = RunOptions
) -> Result:
    from memgauge.measuring import measure

    chosen, run_options = _requested(names, options, run=run)
    result = measure(chosen, run_options, name=name)
    result.save()
    if result.failed_validations:
        raise ValidationFailed(f"{result.directory}: {CORRUPT}")
    return result


def _requested(
    names: Sequence[str], options: dict[str, Any], *, run: type[RunOptions] = RunOptions
) -> tuple[list[tuple[Experiment, CommonParameters]], RunOptions]:
    """Experiments with their parameters, and what applies to the whole run."""
    from memgauge.experiments.registry import load as load_experiment

    of_run = {field.keyword for field in fields_of(run)} | {"budget_s"}
    run_options = build(run, **{k: v for k, v in options.items() if k in of_run})
    requested = {k: v for k, v in options.items() if k not in of_run}
    chosen: list[tuple[Experiment, CommonParameters]] = []
    for experiment in map(load_experiment, names):
        mine = requested if len(names) == 1 else taken_by(experiment.parameters, requested)
        chosen.append((experiment, build(experiment.parameters, **mine)))
    return chosen, run_options


def taken_by(struct: type[CommonParameters], requested: dict[str, Any]) -> dict[str, Any]:
    """Of a survey's options, those this experiment takes; team sizes only where it has teams."""
    return {k: v for k, v in requested.items() if k != "threads" or struct.takes_threads}
