"""How an experiment declares its parameters: once, as a frozen struct.

    class StreamParameters(CommonParameters, frozen=True, kw_only=True):
        kernel: Annotated[tuple[str, ...], choices_option("kernels to run", KERNELS)] = KERNELS
        array_bytes: Annotated[int | None, size_option("bytes of each array",
                                                       automatic="by the STREAM rule")] = None
        autotune: Annotated[bool, switch_option("search the best variant")] = False

From this follow the flags and their help (`fields_of`), the keywords of the Python API, which take
the text form or the native value (`build`), validation, and the text form in records (`texts`),
which `build` reads back. Annotations may be strings (`from __future__ import annotations`), as long
as their names are found in the module of the class.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from memgauge.model import units
from memgauge.model.arguments import check_native
from memgauge.model.errors import RequestError
from memgauge.model.memory import MAX_NODE, MemoryPlacement, memory_option
from memgauge.model.option import (
    Option,
    choice_option,
    choices_option,
    counts_option,
    directory_option,
    duration_option,
    grouped,
    list_text,
    share_option,
    switch_option,
)
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.text import quoted

MAX_THREADS = 65_536
"""Above what Linux supports on any architecture (NR_CPUS is at most 8192)."""

PAGE_POLICIES = ("auto", "4k", "thp", "2m", "1g")
PIN_POLICIES = ("compact", "scatter", "cores")
SWEEPS = ("coarse", "fine")
HOST_OPTIONS = ("threads", "cpus", "nodes", "pages", "keep", "overwrite")
"""Common parameters that apply to host memory only, not to GPU memory."""
FINE_BUDGET_S = 300.0


class ParameterField(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a struct, in the form that the command line and the documentation need."""

    name: str
    keyword: str
    """Keyword of the Python API: the flag as an identifier."""
    flag: str
    default: Any
    option: Option

    @property
    def default_text(self) -> str | None:
        """The default as a user writes it, or the description of an automatic default."""
        return self.option.automatic if self.default is None else self.text(self.default)

    def text(self, value: object) -> str:
        """The text form of a native value, not None."""
        return self.option.write(value)

    def value(self, given: object) -> object:
        """The native value of a text or native value; raises RequestError."""
        if given is None:
            if self.default is not None:
                raise RequestError(
                    f"{self.flag} has no value; write {quoted(self.default_text or '')}"
                )
            return None
        if given is self.default:
            return given
        if isinstance(given, str):
            return self.option.parse(given, self.flag)
        takes_lists = self.option.repeatable or list in self.option.natives
        check_native(given, self.option.natives, self.flag, lists=takes_lists)
        return self.option.parse(self.text(given), self.flag)


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all parameter structs. Values are read and checked however it is constructed."""

    unlisted: ClassVar[frozenset[str]] = frozenset()
    """Parameters that are inherited, and refused or without effect: --help does not list them."""

    def __post_init__(self) -> None:
        """Read text forms and check native values."""
        for field in fields_of(type(self)):
            value = field.value(getattr(self, field.name))
            msgspec.structs.force_setattr(self, field.name, value)

    def replace(self, **changes: object) -> Self:
        """A copy with some values changed, checked again."""
        return msgspec.structs.replace(self, **changes)


AnyParameters = TypeVar("AnyParameters", bound=Parameters)


def parse_cpus(text: str, option: str) -> str:
    """Parse a pinning policy or a list of CPUs such as `0-3,8`; the text is returned unchanged."""
    name = text.strip()
    if name in PIN_POLICIES:
        return name
    if not name[:1].isdigit():
        raise RequestError(
            f"{option} {quoted(text)} is neither {', '.join(PIN_POLICIES)} nor a list of CPUs; "
            "choose a policy or write a list, such as 0-3,8"
        )
    units.parse_counts(name, option, 0, MAX_THREADS - 1)
    return name


_cpus_option = msgspec.structs.replace(
    counts_option(
        "how threads are pinned to CPUs: compact, scatter, cores, or a list of CPUs", 0, 0
    ),
    metavar="POLICY|LIST",
    parse=parse_cpus,
    repeatable=False,
    natives=(int, list),
    group="where",
)
_pages_option = grouped(choice_option("page size that backs the arrays", PAGE_POLICIES), "where")
_page_kinds = choices_option(
    "page sizes that back the arrays; several are compared in the same rounds", PAGE_POLICIES
)
page_kinds_option = msgspec.structs.replace(
    _page_kinds,
    parse=lambda text, flag: list_text(_page_kinds.parse(text, flag)),
)
"""Several page policies; the native value is their text, so that it can replace that of one."""

_nodes_option = counts_option(
    "NUMA nodes whose CPUs are used, such as 0 or 0,2-3", 0, MAX_NODE, automatic="all"
)


class CommonParameters(Parameters, frozen=True, kw_only=True):
    """Parameters of every experiment, with the same meaning everywhere."""

    takes_threads: ClassVar[bool] = True
    """Whether a survey's --threads applies. It does not apply to single-threaded experiments, nor
    if the option counts something other than the threads of a team."""

    threads: Annotated[
        tuple[int, ...] | None,
        grouped(
            counts_option(
                "thread counts to measure with, such as 1,2,4-8",
                1,
                MAX_THREADS,
                automatic="1, 2, 4, ... up to all hardware threads; also one per core, and one "
                "more than that",
            ),
            "where",
        ),
    ] = None
    cpus: Annotated[str, _cpus_option] = "scatter"
    nodes: Annotated[tuple[int, ...] | None, grouped(_nodes_option, "where")] = None
    memory: Annotated[MemoryPlacement, grouped(memory_option, "where")] = MemoryPlacement()
    pages: Annotated[str, _pages_option] = "auto"
    keep: Annotated[
        bool,
        grouped(
            switch_option("keep the file or pool that --memory names, for a later run"), "where"
        ),
    ] = False
    overwrite: Annotated[
        bool,
        grouped(
            switch_option("allow writing to a device named by --memory that already holds data"),
            "where",
        ),
    ] = False
    sweep: Annotated[
        str | None,
        grouped(
            choice_option(
                "step size of sweeps", SWEEPS, automatic="coarse; fine if the budget is 5m or more"
            ),
            "effort",
        ),
    ] = None

    @property
    def memories(self) -> tuple[MemoryPlacement, ...]:
        """All memories that are used, each once."""
        return (self.memory,)

    @property
    def page_kinds(self) -> tuple[str, ...]:
        """All page policies that are used, each once; only some experiments take several."""
        return tuple(self.pages.split(","))

    @property
    def is_fine(self) -> bool:
        """Whether to sweep in small steps."""
        return self.sweep == "fine"

    def for_budget(self, budget_s: float) -> Self:
        """A copy with the sweep that fits the budget, unless one was requested."""
        if self.sweep is not None:
            return self
        return self.replace(sweep="fine" if budget_s >= FINE_BUDGET_S else "coarse")


class OneThreadParameters(CommonParameters, frozen=True, kw_only=True):
    """Parameters of single-threaded experiments."""

    takes_threads: ClassVar[bool] = False
    unlisted: ClassVar[frozenset[str]] = frozenset({"threads"})

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "always 1: this experiment is single-threaded", 1, MAX_THREADS, automatic="1"
        ),
    ] = None

    def refuse_teams(self, why: str) -> None:
        """Accept only one thread; the error message contains `why`.

        Raises:
            RequestError: other numbers of threads were requested.
        """
        if self.threads not in (None, (1,)):
            raise RequestError(f"--threads: {why}; omit --threads, and choose the CPU with --cpus")


class RunOptions(Parameters, frozen=True, kw_only=True):
    """Parameters of any run, regardless of what it measures."""

    budget_s: Annotated[
        float,
        grouped(duration_option("maximum time to spend measuring", flag="--budget"), "effort"),
    ] = 60.0
    precision: Annotated[
        float,
        grouped(
            share_option(
                "half width of the 95% interval, as a share of the figure, "
                "from which on a point is sampled less often; a run ends when all are that precise"
            ),
            "effort",
        ),
    ] = 0.01
    output: Annotated[
        str | None,
        grouped(
            directory_option(
                "directory to write the run to", automatic="memgauge-runs/TIME-EXPERIMENT"
            ),
            "output",
        ),
    ] = None
    json: Annotated[
        bool, grouped(switch_option("print one JSON document and nothing else"), "output")
    ] = False
    peak_bytes_per_s: Annotated[
        float | None,
        grouped(
            Option(
                help="theoretical bandwidth of the memory, of which shares are given, such as "
                "76.8GB/s",
                metavar="RATE",
                parse=units.parse_bandwidth,
                write=lambda rate: f"{rate / 1e9:.12g}GB/s",
                flag="--peak",
                automatic="by SMBIOS, readable by root, or a device tree",
            ),
            "where",
        ),
    ] = None
    remember: Annotated[
        bool,
        grouped(
            switch_option(
                "keep the headline figures in the user's state directory, and show what they vary "
                "by between the runs that are kept there"
            ),
            "output",
        ),
    ] = False


@cache
def fields_of(struct: type[Parameters]) -> tuple[ParameterField, ...]:
    """The parameters of a struct, inherited ones first."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple(
        _field(struct, field.name, hints[field.name], field.default)
        for field in msgspec.structs.fields(struct)
    )


def build(struct: type[AnyParameters], **given: object) -> AnyParameters:
    """The struct from keywords or field names, in text form or as native values."""
    names = {field.keyword: field.name for field in fields_of(struct)}
    names |= {field.name: field.name for field in fields_of(struct)}
    for keyword in given:
        if keyword not in names:
            known = ", ".join(field.keyword for field in fields_of(struct))
            raise RequestError(f"{quoted(keyword)} is not a parameter here; choose from {known}")
    return struct(**{names[keyword]: value for keyword, value in given.items()})


def texts(parameters: Parameters) -> dict[str, Scalar]:
    """The text forms by field name, as records keep them; `build` reads them back."""
    values = ((field, getattr(parameters, field.name)) for field in fields_of(type(parameters)))
    return {field.name: None if value is None else field.text(value) for field, value in values}


def words_for(
    structs: Iterable[type[Parameters]],
    values: Mapping[str, Any],
    *,
    leave_out: Collection[str] = (),
) -> list[str]:
    """Options for the command line of another run.

    Args:
        structs: Declare the options.
        values: By keyword or field name, in text form or as native values; None for an option that
            was not given.
        leave_out: Keywords of options that are not handed on.
    """
    words = []
    for field in (field for struct in structs for field in fields_of(struct)):
        value = values.get(field.keyword, values.get(field.name))
        if field.keyword in leave_out or value is None or value is False:
            continue
        if field.option.is_switch:
            words.append(field.flag)
        else:
            text = value if isinstance(value, str) else field.text(field.value(value))
            words.append(f"{field.flag}={text}")
    return words


def _field(struct: type, name: str, hint: object, default: object) -> ParameterField:
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    option = next((item for item in metadata if isinstance(item, Option)), None)
    if option is None:
        raise TypeError(f"{struct.__name__}.{name} has no Option in its Annotated type")
    if default is msgspec.NODEFAULT:
        raise TypeError(f"{struct.__name__}.{name} has no default")
    flag = option.flag or "--" + name.replace("_", "-")
    keyword = flag.removeprefix("--").replace("-", "_")
    inherited = next((one for one in _inherited(struct) if one.name == name), None)
    if inherited is not None:  # declared again: it keeps its heading
        option = grouped(option, inherited.option.group)
    return ParameterField(name=name, keyword=keyword, flag=flag, default=default, option=option)


def _inherited(struct: type) -> tuple[ParameterField, ...]:
    """The parameters of the nearest base class that has any."""
    base = struct.__base__
    if base is None or not issubclass(base, Parameters):
        return ()
    return fields_of(base)
