"""Options of every experiment, as their texts, one on each line behind the experiment's name.

What they are read to is written again, read to the same, and planned on machines of tests.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.fuzz.invariants import check_refusal
from tests.unit.experiments.machines import a_machine
from tests.unit.system import trees

from memgauge.experiments.registry import BEHIND_COMMANDS, EXPERIMENTS, for_memory, load
from memgauge.experiments.shared.base import Experiment
from memgauge.fft3d.parameters import Fft3dParameters
from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.parameters import Parameters, RunOptions, build, fields_of, texts
from memgauge.model.system import System
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.system.detect import detect

IS_JSON = False
OTHERS: dict[str, type[Parameters]] = {
    "run": RunOptions,
    "profile": ProfileParameters,
    "fft3d": Fft3dParameters,
}
EXPERIMENT_NAMES = (*EXPERIMENTS, *BEHIND_COMMANDS)


def seeds() -> Iterator[bytes]:
    """Every option of everything at its default, and at what its help shows."""
    for name in (*EXPERIMENT_NAMES, *OTHERS):
        struct = _struct(name)
        lines = [name]
        for field in fields_of(struct):
            given = field.default_text if field.default is not None else None
            lines.append(
                f"{field.name}={given if given is not None else _example(field.option.choices)}"
            )
        yield "\n".join(lines).encode()
        yield name.encode()
        for line in lines[1:]:
            yield f"{name}\n{line}".encode()
    yield b"traffic\nkernel=gemm\nsizes=64,128"
    yield b"tiers\na=dram\nb=node:1\nthreads=2"
    yield b"interleave\nnodes=0,1"


def _example(choices: tuple[str, ...]) -> str:
    return choices[0] if choices else "2"


def run(data: bytes) -> None:
    """Read the options, and plan with them."""
    name, *lines = data.decode("utf-8", "replace").split("\n")
    if name not in OTHERS and name not in EXPERIMENT_NAMES:
        return
    given = dict(line.partition("=")[::2] for line in lines if "=" in line)
    try:
        parameters = build(_struct(name), **given)
    except RequestError as error:
        check_refusal(error)
        return
    again = {key: value for key, value in texts(parameters).items() if value is not None}
    assert build(type(parameters), **again) == parameters
    if name in EXPERIMENT_NAMES:
        for machine in _machines():
            _plan(name, parameters, machine)


def _plan(name: str, parameters: Parameters, machine: System) -> None:
    try:
        experiment = for_memory(_experiment(name), parameters)  # type: ignore[arg-type]
        groups = experiment.plan(parameters, machine)
    except MemgaugeError as error:
        check_refusal(error)
        return
    names = [point.point for group in groups for point in group.points]
    assert len(set(names)) == len(names), "two points of one name"
    assert all(group.bytes >= 0 for group in groups)


def _struct(name: str) -> type[Parameters]:
    return OTHERS[name] if name in OTHERS else _experiment(name).parameters


@cache
def _experiment(name: str) -> Experiment:
    return load(name)


@cache
def _machines() -> list[System]:
    with tempfile.TemporaryDirectory() as made:
        found = []
        for name in ("guest", "with_cxl"):
            trees.plant(Path(made) / name, trees.MACHINES[name]())
            found.append(detect(Path(made) / name))
    return [*found, a_machine(2)]
