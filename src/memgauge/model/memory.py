"""Which memory to put arrays in: one vocabulary for every experiment, `--memory`.

dram              this machine's ordinary memory: whoever touches a page first places it node:N
memory of one NUMA node, whatever it is made of interleave:0,1    pages of some nodes in turn; by
weight as in interleave:0=3,1=1 file:PATH         a file, mapped; on a DAX file system the medium
itself devdax:/dev/daxN.M  a device of byte-addressable memory pmemobj:PATH      a pool of
libpmemobj shm:              shared memory without a name cuda:N            memory of a GPU, by the
number that its driver gives it
"""

from __future__ import annotations

import msgspec

from memgauge.model import units
from memgauge.model.errors import RequestError
from memgauge.model.option import Option
from memgauge.model.text import quoted

MAX_NODE = 1023
"""Linux's largest MAX_NUMNODES is 1024 (NODES_SHIFT 10)."""
MAX_WEIGHT = 255
"""Largest weight of a node in Linux's weighted interleave."""
MAX_DEVICE = 1023
"""More GPUs, or instances of them, than any machine shows."""

GPU = "cuda"

FORMS = {
    "dram": "dram",
    "node": "node:N",
    "interleave": "interleave:N,N or interleave:N=WEIGHT,N=WEIGHT",
    "file": "file:PATH",
    "devdax": "devdax:/dev/daxN.M",
    "pmemobj": "pmemobj:PATH",
    "shm": "shm:",
    GPU: "cuda:N",
}
"""Kinds of memory, and how each is written."""

AREA_KINDS = frozenset({"file", "devdax", "pmemobj", "shm"})
"""Kinds that must be opened before they can hold buffers."""


class MemoryPlacement(msgspec.Struct, frozen=True):
    """Which memory to measure."""

    kind: str = "dram"
    nodes: tuple[int, ...] = ()
    """NUMA nodes; empty if pages are placed by the thread that touches them first."""
    weights: tuple[int, ...] = ()
    """For interleaved nodes, consecutive pages on each; empty for one page each."""
    path: str = ""
    device: int | None = None
    """For a GPU: its number among the devices that CUDA_VISIBLE_DEVICES leaves visible."""

    def __str__(self) -> str:
        """The text form, such as `node:1`."""
        if self.device is not None:
            return f"{self.kind}:{self.device}"
        if self.weights:
            pairs = zip(self.nodes, self.weights, strict=True)
            return f"{self.kind}:" + ",".join(f"{node}={weight}" for node, weight in pairs)
        if self.nodes:
            return f"{self.kind}:" + ",".join(map(str, self.nodes))
        return f"{self.kind}:{self.path}" if self.is_area else self.kind

    @property
    def node(self) -> int | None:
        """The single NUMA node it is on; None if not specified, or several."""
        return self.nodes[0] if len(self.nodes) == 1 else None

    @property
    def is_area(self) -> bool:
        """Whether it must be opened before it can hold buffers."""
        return self.kind in AREA_KINDS

    @property
    def is_gpu(self) -> bool:
        """Whether it is GPU memory, which only the GPU's kernels can access."""
        return self.kind == GPU


def names_gpu(text: str) -> bool:
    """Whether the text form of a placement names GPU memory."""
    return text.startswith(f"{GPU}:")


def on_gpu(device: int) -> MemoryPlacement:
    """Memory of one GPU."""
    return MemoryPlacement(GPU, device=device)


def on_node(node: int) -> MemoryPlacement:
    """Memory of one NUMA node."""
    return MemoryPlacement("node", (node,))


def parse_placement(text: str, option: str) -> MemoryPlacement:
    """A placement such as `dram` or `node:1`.

    Raises:
        RequestError: the kind is unknown, or its argument is malformed.
    """
    kind, colon, rest = text.strip().partition(":")
    if kind not in FORMS:
        raise RequestError(
            f"{option} {quoted(text)} is not a kind of memory; choose from "
            f"{', '.join(FORMS.values())}"
        )
    if kind == "dram" and not colon:
        return MemoryPlacement()
    if kind == "shm" and colon and not rest:
        return MemoryPlacement("shm")
    if kind in {"dram", "shm"} or not rest:
        raise RequestError(f"{option} {quoted(text)} is malformed; write {FORMS[kind]}")
    if kind in AREA_KINDS:
        return MemoryPlacement(kind, path=_path(rest, text, option))
    if kind == GPU:
        return on_gpu(_device(rest, text, option))
    return _on_nodes(kind, rest, text, option)


def _path(rest: str, text: str, option: str) -> str:
    if "\0" in rest or any(ord(character) < 32 for character in rest):
        raise RequestError(f"{option} {quoted(text)}: a path must not contain control characters")
    return rest


def _device(rest: str, text: str, option: str) -> int:
    """The number of a GPU; a GPU named in another way becomes device 0 of the driver."""
    if rest.isascii() and rest.isdigit():
        return units.parse_count(rest, f"{option} {GPU}", 0, MAX_DEVICE)
    if rest.startswith(("GPU-", "MIG-")):
        raise RequestError(
            f"{option} {quoted(text)}: GPUs and MIG instances are named by number; set "
            "CUDA_VISIBLE_DEVICES to that identifier and write cuda:0"
        )
    if ":" in rest:
        raise RequestError(
            f"{option} {quoted(text)}: cuda:N is one device; for a MIG instance set "
            "CUDA_VISIBLE_DEVICES=MIG-UUID (nvidia-smi -L lists them) and write cuda:0"
        )
    raise RequestError(
        f"{option} {quoted(text)}: GPUs are named by number, starting at 0; write cuda:0"
    )


def _on_nodes(kind: str, rest: str, text: str, option: str) -> MemoryPlacement:
    parts = [part.partition("=") for part in rest.split(",")]
    nodes = tuple(units.parse_count(node, f"{option} {kind}", 0, MAX_NODE) for node, _, _ in parts)
    if kind == "node":
        if len(parts) > 1 or parts[0][1]:
            raise RequestError(
                f"{option} {quoted(text)}: node:N is one node; "
                f"write {FORMS['interleave']} for several"
            )
        return MemoryPlacement(kind, nodes)
    if len(nodes) < 2 or len(set(nodes)) != len(nodes):
        raise RequestError(
            f"{option} {quoted(text)}: interleaving needs two or more nodes, each named once; "
            f"write {FORMS['interleave']}"
        )
    given = [weight for _, equals, weight in parts if equals]
    if given and len(given) != len(parts):
        raise RequestError(f"{option} {quoted(text)}: give a weight to every node, or to none")
    weights = tuple(
        units.parse_count(weight, f"{option} weight", 1, MAX_WEIGHT) for weight in given
    )
    return MemoryPlacement(kind, nodes, weights)


_KINDS = "dram, node:N, interleave:N,N, file:PATH, devdax:PATH, pmemobj:PATH"
HOST_HELP = f"memory to measure: {_KINDS} or shm:"
"""Of an experiment that cannot measure a GPU."""

memory_option = Option(
    help=f"memory to measure: {_KINDS}, shm:, or cuda:N (a GPU)",
    metavar="KIND",
    parse=parse_placement,
)
