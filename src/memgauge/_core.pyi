"""The native core: clock, buffers, team, kernels and chase. See core/include/memgauge.

Its errors are those of `memgauge.model.errors`; an interrupted call raises KeyboardInterrupt (or
whatever the Python signal handler raised). Long calls release the GIL and look for signals.
"""

from collections.abc import Sequence

class ClockInfo:
    source: str
    ns_per_tick: float
    cost_ns: float
    resolution_ns: float
    calibration_error_ppm: float
    epoch_raw_ns: int

def clock_info() -> ClockInfo: ...
def clock_now_ns() -> int:
    """Nanoseconds on the clock of all stamps."""

def allowed_cpus() -> list[int]: ...
def base_page_bytes() -> int: ...
def supported_isas() -> list[str]:
    """Instruction sets, best for streaming first."""

class Backing:
    mapped_bytes: int
    resident_bytes: int
    huge_bytes: int
    base_page_bytes: int
    huge_page_bytes: int
    node: int | None
    share_on_node: float

class ThreadSlice:
    cpu: int
    involuntary_switches: int
    page_faults: int
    begin_ns: list[int]
    end_ns: list[int]

class Slice:
    threads: list[ThreadSlice]
    pingpong_ns: float | None

class Team:
    def __init__(self, cpus: Sequence[int]) -> None: ...
    cpus: list[int]
    def pingpong_ns(self) -> float | None: ...
    def core_cycles_per_ns(self, rank: int = 0) -> float: ...

class KernelSpec:
    def __init__(
        self,
        operation: str,
        element: str = "double",
        variant: str = "standard",
        isa: str = "generic",
        store: str = "temporal",
        unroll: int = 1,
        streams: int = 1,
        prefetch_near_bytes: int = 0,
        prefetch_far_bytes: int = 0,
    ) -> None:
        """Raises RequestError when this machine cannot run it or no such kernel was compiled."""
    operation: str
    element: str
    variant: str
    isa: str
    store: str
    unroll: int
    streams: int
    prefetch_near_bytes: int
    prefetch_far_bytes: int
    counted_read_bytes: int
    counted_write_bytes: int
    write_allocate_bytes: int
    """Bytes per element."""

def tuned_specs(operation: str, element: str = "double") -> list[KernelSpec]: ...

class ArrayValidation:
    array: str
    average_relative_error: float
    epsilon: float
    elements: int
    failed_elements: int
    first_failed: int
    passed: bool

class StreamArrays:
    def __init__(
        self,
        team: Team,
        elements: int,
        element: str = "double",
        pages: str = "auto",
        node: int | None = None,
        offset_bytes: int = 0,
        blocks: int = 1,
    ) -> None: ...
    elements: int
    elements_per_block: int
    def run(
        self,
        spec: KernelSpec,
        first_block: int = 0,
        blocks: int = 1,
        lead_in_blocks: int = 0,
        iterations: int = 1,
        prefix_elements: int = 0,
        repeats: int = 1,
        pingpong: bool = False,
    ) -> Slice: ...
    def validate(self) -> list[ArrayValidation]: ...
    def backing(self) -> list[Backing]: ...
    def corrupt(self, array: str, element: int) -> None: ...
    def close(self) -> None:
        """Free the arrays now; later calls raise RuntimeError."""

class ChaseRing:
    def __init__(
        self,
        team: Team,
        bytes: int,
        node_bytes: int = 64,
        block_bytes: int = 0,
        order: str = "random",
        pages: str = "auto",
        node: int | None = None,
        seed: int = 1,
    ) -> None: ...
    nodes: int
    def run(self, hops: int, warm_hops: int = 0, iterations: int = 1) -> Slice: ...
    def is_single_cycle(self) -> bool: ...
    def backing(self) -> Backing: ...
    def close(self) -> None: ...
