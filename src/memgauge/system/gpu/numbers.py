"""Which number CUDA will give each GPU, found without starting CUDA and only where it is certain.

CUDA numbers the devices that CUDA_VISIBLE_DEVICES leaves, in its order: numbers there are those of
all devices, by bus id with CUDA_DEVICE_ORDER=PCI_BUS_ID and otherwise the fastest first, by an
undocumented rule. Source: CUDA C++ Programming Guide, CUDA environment variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgauge.system.gpu.devices import Gpu

_VISIBLE, _ORDER, _BY_BUS = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PCI_BUS_ID"

Number = int | str
"""A GPU's number, or what to do so that it can be determined."""


def gpu_numbers(gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Number]:
    """For each GPU, in the given order: its number, or why the number is not certain."""
    usable = [gpu for gpu in gpus if gpu.is_usable]
    shown = _shown(usable, environment)
    return [_number(gpu, usable, shown) for gpu in gpus]


def _number(gpu: Gpu, usable: Sequence[Gpu], shown: Sequence[Gpu | None] | str) -> Number:
    blocker = _blocker(gpu)
    if blocker is not None:
        return blocker
    if any(one.is_partitioned for one in usable):
        return (
            "a GPU is cut into MIG instances: name one by CUDA_VISIBLE_DEVICES=MIG-UUID "
            "(nvidia-smi -L lists them), which is cuda:0 then"
        )
    if isinstance(shown, str):
        return shown
    if gpu not in shown:
        return f"{_VISIBLE} hides it: unset that variable"
    return shown.index(gpu)


def _blocker(gpu: Gpu) -> str | None:
    """What must be done before the GPU can be used at all; None if nothing."""
    if gpu.is_usable:
        return None
    if gpu.driver is None:
        return "no driver is bound to it: install the NVIDIA driver"
    if gpu.driver != "nvidia":
        return f"driver {gpu.driver} is bound to it: bind NVIDIA's (nvidia)"
    return (
        "its device file is missing or may not be opened: give the container access to the GPU "
        "(docker run --gpus all)"
    )


def _shown(usable: Sequence[Gpu], environment: Mapping[str, str]) -> Sequence[Gpu | None] | str:
    """GPUs in the order of their numbers, with None for devices not listed here; or what to do."""
    by_bus = environment.get(_ORDER) == _BY_BUS
    ordered = sorted(usable, key=lambda gpu: gpu.bus_id or "")
    is_certain = len(usable) == 1 or (by_bus and all(gpu.bus_id for gpu in usable))
    visible = environment.get(_VISIBLE)
    if visible is None:
        return ordered if is_certain else _uncertain(usable)
    shown: list[Gpu | None] = []
    for word in visible.split(","):
        name = word.strip()
        if name.isascii() and name.isdigit():
            if not is_certain:
                return _uncertain(usable)
            if int(name) >= len(ordered):
                break  # CUDA ignores everything after a number that does not exist
            shown.append(ordered[int(name)])
        elif name.startswith("GPU-"):
            meant = [gpu for gpu in ordered if gpu.uuid and gpu.uuid.startswith(name)]
            shown.append(meant[0] if len(meant) == 1 else None)
        else:
            break
    return shown


def _uncertain(usable: Sequence[Gpu]) -> str:
    return (
        f"{len(usable)} GPUs, numbered by their speed: set {_ORDER}={_BY_BUS} to number them by "
        "bus id"
    )
