"""Memory of GPUs as tiers, and what is missing before it can be measured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memgauge.model.memory import on_gpu
from memgauge.model.system import Capability, Tier
from memgauge.system.gpu.devices import driver_version, read_gpus
from memgauge.system.gpu.libraries import INSTALL, nvrtc_seen
from memgauge.system.gpu.numbers import gpu_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memgauge.system.gpu.devices import Gpu
    from memgauge.system.gpu.numbers import Number
    from memgauge.system.tree import Tree


def gpu_tiers(tree: Tree, environment: Mapping[str, str] = os.environ) -> list[Tier]:
    """One tier for each visible GPU; its size is unknown until its driver is started."""
    gpus = read_gpus(tree)
    version = driver_version(tree)
    numbers = gpu_numbers(gpus, environment)
    return [_tier(gpu, number, version) for gpu, number in zip(gpus, numbers, strict=True)]


def _tier(gpu: Gpu, number: Number, version: str | None) -> Tier:
    known = isinstance(number, int)
    driver = "" if gpu.driver is None else f", driver {gpu.driver}"
    if gpu.driver == "nvidia" and version is not None:
        driver += f" {version}"
    return Tier(
        kind="gpu",
        placement=str(on_gpu(number)) if isinstance(number, int) else None,
        bytes=None,
        nodes=[],
        evidence=f"{gpu.title}{driver}",
        nearest_node=gpu.node,
        device=gpu.bus_id or (None if gpu.minor is None else f"nvidia{gpu.minor}"),
        remedy=None if known else str(number),
    )


def gpu_capability(tree: Tree, tiers: list[Tier]) -> Capability:
    """Whether a GPU's memory can be measured, as far as is known without starting its driver."""
    gpus = [tier for tier in tiers if tier.kind == "gpu" and not tier.nodes]
    name = "GPU memory"
    if not gpus:
        return Capability(name=name, available=False, detail="no NVIDIA GPU was found")
    usable = [gpu for gpu in read_gpus(tree) if gpu.is_usable]
    if not usable:
        return Capability(
            name=name, available=False, detail=gpus[0].evidence, remedy=gpus[0].remedy
        )
    detail = ", ".join(gpu.title for gpu in usable)
    if not nvrtc_seen():
        return Capability(
            name=name,
            available=False,
            detail=f"{detail}; NVRTC, which compiles kernels for it, was not found",
            remedy=INSTALL,
        )
    return Capability(name=name, available=True, detail=detail)
