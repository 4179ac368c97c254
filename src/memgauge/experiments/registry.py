"""The code of each experiment, by the descriptors of `memgauge.model.experiments`.

The modules are loaded when an experiment is asked for: they need the native core, which a machine
that only renders reports may lack.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memgauge.experiments.shared.base import Experiment
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.experiments import DESCRIPTORS, SURVEYED, Descriptor
from memgauge.system.native import refusal

if TYPE_CHECKING:
    from memgauge.model.parameters import CommonParameters

EXPERIMENTS: dict[str, Descriptor] = SURVEYED
"""Those with a command of the same name; a survey makes them all."""

BEHIND_COMMANDS: dict[str, Descriptor] = {
    name: one for name, one in DESCRIPTORS.items() if one.host and not one.in_survey
}
"""No part of a survey: each is behind a command of its own."""

MEASURED: dict[str, Descriptor] = EXPERIMENTS | BEHIND_COMMANDS


def load(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        RequestError: no such experiment, or this installation has no native core.
    """
    described = MEASURED.get(name)
    if described is None or described.host is None:
        raise RequestError(f"experiment {name!r} is not known; choose from {', '.join(MEASURED)}")
    return _made(name, described.host)


def for_memory(experiment: Experiment, parameters: CommonParameters) -> Experiment:
    """The experiment that measures the memory that was asked for: itself, unless that is a GPU's.

    Raises:
        NotPossibleHere: it is a GPU's, and the experiment measures none; says which do.
    """
    gpus = [memory for memory in parameters.memories if memory.is_gpu]
    if not gpus or experiment.name not in MEASURED:
        return experiment
    on_gpu = MEASURED[experiment.name].gpu
    if on_gpu is None:
        able = ", ".join(name for name, described in EXPERIMENTS.items() if described.gpu)
        raise NotPossibleHere(
            f"{experiment.name}: cannot measure the memory of a GPU ({gpus[0]}); use one of {able}"
        )
    return _made(experiment.name, on_gpu)


def _made(name: str, place: str) -> Experiment:
    module_name, _, type_name = place.partition(":")
    try:
        module = import_module(f"memgauge.experiments.{name}.{module_name}")
    except ImportError as error:
        refused = refusal(name, error)
        if refused is None:
            raise
        raise refused from error
    experiment: Experiment = getattr(module, type_name)()
    return experiment
