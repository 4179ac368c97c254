"""The values of each option, derived from the parameters of an experiment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.experiments.registry import BEHIND_COMMANDS, EXPERIMENTS, load
from memgauge.model.experiments import DESCRIPTORS, SURVEYED_COMMANDS
from memgauge.model.nests import KINDS
from memgauge.model.parameters import (
    PIN_POLICIES,
    CommonParameters,
    ParameterField,
    Parameters,
    fields_of,
)

if TYPE_CHECKING:
    from tests.option_matrix.pairs import Row, Value

GIVEN = ""
"""Value of a switch that is given; one that is not is None."""

SURVEY = "survey"
ONLY = "--only"
"""Its own option, of experiments to run."""

CPUS = len(os.sched_getaffinity(0))

SAMPLES: dict[str, tuple[Value, ...]] = {
    "--threads": (None, "1", f"1,{CPUS}"),
    "--cpus": ("scatter", *PIN_POLICIES, str(min(os.sched_getaffinity(0)))),
    "--nodes": (None, "0"),
    "--array-offset": (None, "128"),
    "--counters": (None, "none", "modelled", "auto"),
    "--read-share": (None, "100%", "50%,0%"),
    "--delay": ("0,100",),
    "--like": (None,),  # names a profile with counted traffic, which few machines can record
    "--steps": (None,),  # of --like
    "--delay-a": ("0", "0,100"),
    "--delay-b": ("0", "0,100"),
    "--up-to": ("1", "2"),
    "--tiers": (None, "0"),
    "--a": (None, "dram", "dram:dram"),
    "--split": (None, "0-1"),
    "--fixed-iterations": (None, "3"),
    "--memory-nodes": (None, "0"),
    "--grid": (None, "2x4"),
    "--cap": (None, "16"),
    "--repetitions": ("1", "auto", "study"),
    "--machine": ("this", "power9-5mb", "none"),
    "--size-budget": (None, "1s"),
    "--host-memory": ("dram", "node:0"),
    "--peer": (None, "1"),
    "--events": (None,),
    "--region": ("10ms",),
    "--simulate-up-to": ("2s",),
    "--array-bytes": ("64KiB",),
    "--reserve-huge-pages": (None,),  # changes what the whole machine has reserved
    "--footprint": ("4MiB",),
    "--largest-bytes": ("2MiB",),
    "--prefetch": (None, "0,512", "512:4096"),
    "--cases": (None, "sequential/3MiB,stride-1KiB/1MiB"),
}
"""Of options whose values are not enumerated. None: the option is not given."""

OWN_SAMPLES: dict[tuple[str, str], tuple[Value, ...]] = {
    ("latency", "--largest-bytes"): (None,),
    ("core_to_core", "--pairs"): (None, "1"),
    ("stride", "--access"): ("8,64",),
    ("stride", "--stride"): (None, "64,4KiB"),
    ("pages", "--stride"): (None, "64,4KiB"),
    ("stream", "--pages"): ("auto", "4k", "thp", "4k,thp"),
    ("stream", "--repetitions"): (None, "3"),
    ("stream", "--runs"): (None, "1"),
    ("traffic", "--stride"): (None, "2"),
    ("traffic", "--sizes"): ("16",),
    ("traffic", "--blas"): (None,),  # what is installed differs
    ("traffic", "--runs"): (None, "2"),
    ("transfers", "--sizes"): ("4KiB", None),
    ("transfers", "--largest-bytes"): (None, "8KiB"),
    ("traffic", "--kernel"): tuple(KINDS),
    ("counters_compare", "--back-ends"): ("perf,pcp",),
    ("counters_compare", "--sizes"): ("16",),
}


def factors_of(name: str, place: Path, *, gpu: bool) -> dict[str, tuple[Value, ...]]:
    """The values of every option of an experiment, by flag.

    Raises:
        KeyError: an option is neither enumerated nor named above.
    """
    samples = SAMPLES | _places(place) | (_of_gpu(name) if gpu else {})
    factors = {
        field.flag: _values(field, OWN_SAMPLES.get((name, field.flag)) or samples.get(field.flag))
        for field in fields_of(struct_of(name))
    }
    return factors | ({ONLY: ("latency", *SURVEYED_COMMANDS)} if name == SURVEY else {})


def struct_of(name: str) -> type[CommonParameters]:
    """Parameters of an experiment, or those that all have in common."""
    if name == SURVEY:
        return CommonParameters
    struct: type[CommonParameters] = load(name).parameters
    return struct


def _places(place: Path) -> dict[str, tuple[Value, ...]]:
    """A memory of each kind that a machine without special hardware has."""
    return {
        "--memory": ("dram", "node:0", "shm:", f"file:{place}/arrays", f"pmemobj:{place}/pool"),
        "--b": (f"file:{place}/b", "dram", f"pmemobj:{place}/b", None),
        "--nvm": (None, f"file:{place}/nvm"),
    }


def _of_gpu(name: str) -> dict[str, tuple[Value, ...]]:
    where: dict[str, tuple[Value, ...]] = {"--memory": ("cuda:0",)}
    if name == "tiers":
        where = {"--memory": ("dram",), "--b": ("cuda:0",)}
    return where | {"--simulate-up-to": (None,)}


def _values(field: ParameterField, samples: Sequence[Value] | None) -> tuple[Value, ...]:
    if samples is not None:
        return tuple(dict.fromkeys(samples))
    if field.option.is_switch:
        return (None, GIVEN)
    if not field.option.choices:
        raise KeyError(f"{field.flag}: name values of it in tests/option_matrix/options.py")
    return _enumerated(field.option.choices, field)


def _enumerated(choices: Sequence[str], field: ParameterField) -> tuple[Value, ...]:
    """The default, each choice alone, and all of them where several may be named."""
    together = (",".join(choices),) if field.option.repeatable and len(choices) > 1 else ()
    default = None if field.default is None else field.text(field.default)
    return tuple(dict.fromkeys([default, *choices, *together]))


def given(struct: type[Parameters], row: Row) -> dict[str, object]:
    """The values that a combination gives, by keyword of the Python API."""
    keywords = {field.flag: field for field in fields_of(struct)}
    return {
        keywords[flag].keyword: True if keywords[flag].option.is_switch else value
        for flag, value in row.items()
        if value is not None and flag != ONLY
    }


def words(name: str, row: Row) -> list[str]:
    """The command line of a combination."""
    rest = dict(row)
    command = [name] if name == SURVEY else DESCRIPTORS[name].words
    if name == "traffic":
        command.append(str(rest.pop("--kernel")))
    if name == "counters_compare":
        command += str(rest.pop("--back-ends")).split(",")
    for flag, value in rest.items():
        if value is not None:
            command += [flag] if value == GIVEN else [flag, value]
    return command


def names(*, gpu: bool) -> list[str]:
    """All experiments and the survey of them, or those that measure a GPU."""
    known = {n: one for n, one in (EXPERIMENTS | BEHIND_COMMANDS).items() if not one.has_program}
    if gpu:
        return [name for name, entry in known.items() if entry.gpu is not None]
    return [*(name for name in known if name != "transfers"), SURVEY]
