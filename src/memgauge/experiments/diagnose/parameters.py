"""What can be asked of a diagnosis."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, ClassVar

import msgspec

from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.option import (
    Option,
    choice_option,
    choices_option,
    count_option,
    duration_option,
    list_text,
    process_option,
    run_option,
    switch_option,
)
from memgauge.model.parameters import HOST_OPTIONS, CommonParameters, RunOptions
from memgauge.model.points.diagnose import CACHE, COMPUTE, READ, THROTTLE, WRITE
from memgauge.model.text import quoted

DEFAULT_EVIDENCE = ("interference", "pages", "threads", "placement", "traffic")
PREFETCH = "prefetch"
"""Only on request: it writes registers of the processor, and the kernel's log says so."""
THP_ALWAYS = "thp-always"
"""Only on request: it changes the pages of all programs of the machine for the time of a run."""
EVIDENCE = (*DEFAULT_EVIDENCE, PREFETCH, THP_ALWAYS)
OF_A_PROCESS = "interference"
"""The evidence that needs no start of the program."""
LESS, MORE = "less", "more"
LEAST_ROUNDS = 8
DEFAULT_ROUNDS = 40
DEFAULT_BUDGET_S = 300.0
MOST_ROUNDS = 1000
DEFAULT_SIMULATE_S = 60.0
MOST_STEPS = 7
SEPARATOR = ";;"
"""Between variants in their text form: a command may hold commas."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_TAKEN = frozenset({COMPUTE, WRITE, READ, CACHE, THROTTLE})
"""Treatments whose names a user could write."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


class Variant(msgspec.Struct, frozen=True):
    """Another way to start the program, of the user's own."""

    name: str
    what: str
    """A command, or NAME=VALUE of an environment variable."""

    def __str__(self) -> str:
        """As it was written."""
        return f"{self.name}={self.what}"

    @property
    def variable(self) -> tuple[str, str] | None:
        """Name and value of an environment variable; None: it is a command."""
        if _VARIABLE.match(self.what) is None or " " in self.what.partition("=")[0]:
            return None
        name, _, value = self.what.partition("=")
        return name, value


def _variants(text: str, flag: str) -> tuple[Variant, ...]:
    found = []
    for one in text.split(SEPARATOR):
        name, equals, what = one.strip().partition("=")
        if not equals or not what or _NAME.fullmatch(name) is None:
            raise RequestError(
                f"{flag} {quoted(one)}: write NAME=COMMAND or NAME=VARIABLE=VALUE, with a name of "
                "letters, digits and . _ + -"
            )
        if name in _TAKEN:
            raise RequestError(
                f"{flag} {quoted(one)}: a treatment of every diagnosis is named {name}; choose "
                "another name"
            )
        found.append(_checked(Variant(name, what), flag))
    names = [variant.name for variant in found]
    if len(set(names)) < len(names):
        raise RequestError(f"{flag}: two variants have the same name; rename one")
    return tuple(found)


def _checked(variant: Variant, flag: str) -> Variant:
    if variant.variable is not None:
        return variant
    try:
        shlex.split(variant.what)
    except ValueError as error:
        raise RequestError(
            f"{flag} {quoted(str(variant))}: is no command: {str(error).lower()}"
        ) from error
    return variant


def _write_variants(variants: object) -> str:
    if isinstance(variants, (list, tuple)):
        return SEPARATOR.join(map(str, variants))
    return str(variants)


def _pattern(text: str, flag: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise RequestError(f"{flag} {quoted(text)}: is no regular expression: {error}") from error
    if groups != 1:
        raise RequestError(
            f"{flag} {quoted(text)}: has {groups} groups; put the number into one, such as "
            r"'time ([0-9.]+)'"
        )
    return text


def _region(text: str, flag: str) -> str:
    if not text.strip():
        raise RequestError(f"{flag} {quoted(text)}: names no region; write its name")
    return text


def _cpus(text: str, flag: str) -> tuple[int, ...]:
    try:
        return tuple(parse_cpu_list(text))
    except ValueError as error:
        raise RequestError(f"{flag} {quoted(text)}: is no list of CPUs, such as 0-3,8") from error


def _cpus_option(what: str, automatic: str) -> Option:
    return Option(
        help=what,
        metavar="LIST",
        parse=_cpus,
        write=list_text,
        repeatable=True,
        automatic=automatic,
        group="where",
    )


class DiagnoseRunOptions(RunOptions, frozen=True, kw_only=True):
    """What applies to a whole diagnosis: a program takes longer than a sampling pass."""

    budget_s: Annotated[
        float, duration_option("maximum time to spend measuring", flag="--budget")
    ] = DEFAULT_BUDGET_S


class DiagnoseOptions(CommonParameters, frozen=True, kw_only=True):
    """What `memgauge diagnose` takes beside the command."""

    takes_threads: ClassVar[bool] = False
    unlisted: ClassVar[frozenset[str]] = frozenset({*HOST_OPTIONS, "memory", "sweep"})

    only: Annotated[
        tuple[str, ...],
        choices_option(
            "kinds of evidence to collect; prefetch and thp-always, for which root lets memgauge "
            "change settings of the whole machine while the program runs, are not among the "
            "default",
            EVIDENCE,
        ),
    ] = DEFAULT_EVIDENCE
    rounds: Annotated[
        int | None,
        count_option(
            f"rounds in which every treatment is applied once; verdicts need {LEAST_ROUNDS}",
            1,
            MOST_ROUNDS,
            automatic=f"until a treatment is decided, from 12 on, at most {DEFAULT_ROUNDS}",
        ),
    ] = None
    program_cpus: Annotated[
        tuple[int, ...] | None,
        _cpus_option(
            "CPUs that the program runs on, such as 0-3",
            "half of the cores of each last-level cache",
        ),
    ] = None
    pressure_cpus: Annotated[
        tuple[int, ...] | None,
        _cpus_option(
            "CPUs that the generators of pressure run on",
            "cores that the program does not use, of its last-level cache if there are some",
        ),
    ] = None
    pressure_steps: Annotated[
        int,
        count_option(
            "part doses of writes, and of pressure on the cache, between none and all: they show "
            "the bandwidth and the cache that the program needs; each is one run more a round",
            0,
            MOST_STEPS,
        ),
    ] = 0
    metric: Annotated[
        str | None,
        Option(
            help="regular expression with one group: a number that the program or the "
            "--metric-command prints; without it, the elapsed time of the program is used",
            metavar="REGEX",
            parse=_pattern,
            automatic="the program's elapsed time",
        ),
    ] = None
    region: Annotated[
        str | None,
        Option(
            help="region that the program marks (docs/profile.md): the time inside it counts "
            "instead of the program's elapsed time",
            metavar="NAME",
            parse=_region,
            automatic="none",
        ),
    ] = None
    metric_better: Annotated[
        str | None,
        choice_option(
            "whether more of the metric is better, as of requests per second, or less, as of times",
            (MORE, LESS),
            automatic="less; must be given with --pid",
        ),
    ] = None
    pid: Annotated[
        int | None,
        process_option(
            "process that runs already and is diagnosed as it is, instead of a command; needs "
            "--metric-command",
            automatic="none; the command is started",
        ),
    ] = None
    metric_command: Annotated[
        str | None,
        Option(
            help="with --pid, shell command that runs under each pressure and prints what the "
            "process achieves meanwhile, as one number",
            metavar="COMMAND",
            parse=lambda text, _flag: text,
            automatic="none",
        ),
    ] = None
    prepare: Annotated[
        str | None,
        Option(
            help="shell command before each run of the program or --metric-command, not timed",
            metavar="COMMAND",
            parse=lambda text, _flag: text,
            automatic="nothing",
        ),
    ] = None
    same_output: Annotated[
        bool, switch_option("end if a run prints something else than the first run did")
    ] = False
    simulate_s: Annotated[
        float,
        duration_option(
            "maximum time to spend simulating the program's traffic, in addition to the budget",
            flag="--simulate-up-to",
        ),
    ] = DEFAULT_SIMULATE_S
    curves: Annotated[
        str | None,
        run_option(
            "run of 'memgauge survey', 'loaded' or 'pages' of this machine, on whose curves "
            "of latency and bandwidth the program's traffic is placed, and by whose reach of the "
            "TLB its pages are judged",
            automatic="none",
        ),
    ] = None
    weights: Annotated[
        str | None,
        run_option(
            "run of 'memgauge interleave' or 'survey' of this machine, by whose weights of "
            "memory nodes large blocks of the program are interleaved, which needs no root",
            automatic="none; those that root has given the kernel, if it has some",
        ),
    ] = None
    variants: Annotated[
        tuple[Variant, ...] | None,
        Option(
            help="another way to run the program, to be compared: NAME=COMMAND, or "
            "NAME=VARIABLE=VALUE for its environment; may be given several times",
            metavar="NAME=...",
            parse=_variants,
            write=_write_variants,
            flag="--try",
            automatic="none",
            natives=(list, tuple, msgspec.Struct),
        ),
    ] = None

    def check(self) -> None:
        """Refuse what has no meaning here.

        Raises:
            RequestError: an option of other experiments, or CPUs that both sides would use.
        """
        common = {"threads", "nodes", "keep", "overwrite"}
        for name in sorted(common):
            if getattr(self, name):
                raise RequestError(
                    f"--{name}: does not apply to a diagnosis; use --program-cpus and "
                    "--pressure-cpus"
                )
        if self.curves and "traffic" not in self.only:
            raise RequestError(
                "--curves: places the program's traffic, which --only leaves out; add traffic to it"
            )
        if self.weights and "placement" not in self.only:
            raise RequestError(
                "--weights: places the program's memory, which --only leaves out; add placement to "
                "it"
            )
        shared = set(self.program_cpus or ()) & set(self.pressure_cpus or ())
        if shared:
            raise RequestError(
                f"--program-cpus, --pressure-cpus: both have CPU {min(shared)}; pressure must come "
                "from CPUs that the program does not use"
            )
        if self.pid is None:
            self._check_program()
        else:
            self._check_process()

    def _check_program(self) -> None:
        if self.metric_command is not None:
            raise RequestError(
                "--metric-command: needs --pid; a number that the program itself prints is found "
                "by --metric"
            )
        if self.region is not None and self.metric is not None:
            raise RequestError(
                "--region, --metric: both say what is measured of the program; give one of them"
            )
        if self.metric_better is not None and self.metric is None:
            raise RequestError(
                "--metric-better: needs --metric; less elapsed time is always better"
            )

    def _check_process(self) -> None:
        if not self.metric_command:
            raise RequestError(
                "--pid: needs --metric-command, a command that prints what the process achieves, "
                "such as its requests per second"
            )
        if self.metric_better is None:
            raise RequestError(
                "--metric-command: needs --metric-better more (as of requests per second) or less "
                "(as of a time)"
            )
        if OF_A_PROCESS not in self.only:
            raise RequestError(
                f"--only {','.join(self.only)}: needs the program to be started, and --pid does "
                "not start it; give the command instead"
            )
        refused = {
            "--program-cpus": (self.program_cpus, "the process stays on its CPUs; see taskset(1)"),
            "--try": (self.variants, "the process is not started again; give the command instead"),
            "--weights": (self.weights, "the memory of a process stays where it is"),
            "--region": (self.region, "a program finds where to leave marks when it starts"),
            "--simulate-up-to": (
                self.simulate_s != DEFAULT_SIMULATE_S,
                "nothing is simulated of a process that runs already",
            ),
            "--same-output": (self.same_output, "the process prints nothing that is read"),
        }
        for flag, (value, why) in refused.items():
            if value:
                raise RequestError(f"{flag}: does not apply to --pid: {why}")


class DiagnoseParameters(DiagnoseOptions, frozen=True, kw_only=True):
    """What `diagnose` takes."""

    command: Annotated[
        str,
        Option(help="the program and its arguments", metavar="COMMAND", parse=lambda text, _: text),
    ] = ""

    @property
    def words(self) -> list[str]:
        """Of the command."""
        return shlex.split(self.command)
