"""The native core: clock, buffers, team, kernels and chase. See core/include/memgauge.

Its errors are those of `memgauge.model.errors`; an interrupted call raises KeyboardInterrupt (or
whatever the Python signal handler raised). Long calls release the GIL and look for signals. A team
and what was made on it serve one call at a time: a second one at the same time raises.
"""

from collections.abc import Callable, Sequence
from typing import final

from _typeshed import ReadableBuffer

compiler: str
"""What built the core, such as `gcc 12.2.0`."""

@final
class ClockInfo:
    @property
    def source(self) -> str: ...
    @property
    def ns_per_tick(self) -> float: ...
    @property
    def cost_ns(self) -> float: ...
    @property
    def resolution_ns(self) -> float: ...
    @property
    def calibration_error_ppm(self) -> float: ...
    @property
    def epoch_raw_ns(self) -> int: ...

def clock_info() -> ClockInfo: ...
def clock_now_ns() -> int:
    """Nanoseconds on the clock of all stamps."""

def allowed_cpus() -> list[int]:
    """CPUs this process may run on (affinity mask, cgroup cpuset, online), ascending."""

def base_page_bytes() -> int: ...
def supported_isas() -> list[str]:
    """Instruction sets, best for streaming first."""

@final
class Backing:
    @property
    def mapped_bytes(self) -> int: ...
    @property
    def resident_bytes(self) -> int: ...
    @property
    def huge_bytes(self) -> int: ...
    @property
    def base_page_bytes(self) -> int: ...
    @property
    def huge_page_bytes(self) -> int: ...
    @property
    def node(self) -> int | None: ...
    @property
    def share_on_node(self) -> float: ...
    @property
    def nodes(self) -> list[tuple[int, float]]:
        """Nodes that hold some of the sampled pages, ascending, and their shares."""

@final
class AreaFacts:
    """What an area of memory is, as the kernel tells; None: it does not."""

    @property
    def kind(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def file_system(self) -> str: ...
    @property
    def dax(self) -> bool | None: ...
    @property
    def map_sync(self) -> bool | None: ...
    @property
    def node(self) -> int | None: ...
    @property
    def page_bytes(self) -> int: ...

@final
class Memory:
    """Where buffers get their pages: ordinary memory by NUMA policy, or an opened area."""

    def __init__(
        self, nodes: Sequence[int] | None = None, weights: Sequence[int] | None = None
    ) -> None:
        """None: first touch. One node: bound to it. Several: pages in turn, by weight."""

    @property
    def nodes(self) -> list[int]: ...
    @property
    def weights(self) -> list[int]: ...
    @property
    def facts(self) -> AreaFacts | None:
        """Of the area; None: it is ordinary memory."""

    def close(self) -> None:
        """Let go of the area; later uses raise RuntimeError."""

class CounterSource:
    """What can be read at once: a group of a PMU, kept-open files, a daemon's answer."""

    @property
    def slots(self) -> int: ...

@final
class Reading:
    @property
    def begin_ns(self) -> int:
        """Before the first source was read, on the clock of all stamps."""

    @property
    def end_ns(self) -> int: ...
    @property
    def values(self) -> list[int | None]:
        """Raw value of each slot, no scale applied; None: could not be read."""

@final
class Reader:
    def __init__(self, sources: Sequence[CounterSource]) -> None:
        """Sources read one after the other, their slots in that order.

        Raises RequestError: no source, or one listed twice.
        """

    @property
    def slots(self) -> int: ...
    def read(self) -> Reading: ...

@final
class ThreadSlice:
    """What one thread did; its lists are made anew at each access."""

    @property
    def cpu(self) -> int: ...
    @property
    def involuntary_switches(self) -> int: ...
    @property
    def page_faults(self) -> int: ...
    @property
    def read_bytes(self) -> int:
        """Between the stamps, where the job counts its own work; else 0, as is the next."""

    @property
    def write_bytes(self) -> int: ...
    @property
    def begin_ns(self) -> list[int]: ...
    @property
    def end_ns(self) -> list[int]: ...

@final
class Slice:
    @property
    def threads(self) -> list[ThreadSlice]: ...
    @property
    def pingpong_ns(self) -> float | None: ...

@final
class Team:
    def __init__(self, cpus: Sequence[int]) -> None:
        """Raises RequestError: no CPU, one listed twice, or one not allowed to this process."""

    @property
    def cpus(self) -> list[int]: ...
    def read_with(self, reader: Reader | None) -> None:
        """Read counters around exactly the timed part of every later call that runs on this team.

        Read by the team's first working thread, all others waiting. None: no more.
        """

    @property
    def readings(self) -> tuple[Reading, Reading] | None:
        """Before and after the timed part of the last call; None: no reader, or no call yet."""

    def thread_ids(self) -> list[int]:
        """Kernel thread identifiers, in the order of `cpus`, for counters bound to a thread."""

    def pingpong_ns(self) -> float | None:
        """Core-to-core latency, one way; None for one thread, or when a CPU was not to be had."""

    def core_cycles_per_ns(self, rank: int = 0) -> float: ...

@final
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
        access: str = "direct",
    ) -> None:
        """Raises RequestError when this machine cannot run it or no such kernel was compiled."""

    @property
    def operation(self) -> str: ...
    @property
    def element(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def isa(self) -> str: ...
    @property
    def store(self) -> str: ...
    @property
    def unroll(self) -> int: ...
    @property
    def streams(self) -> int: ...
    @property
    def prefetch_near_bytes(self) -> int: ...
    @property
    def prefetch_far_bytes(self) -> int: ...
    @property
    def access(self) -> str: ...
    @property
    def counted_read_bytes(self) -> int:
        """Bytes per element, as are the next two."""

    @property
    def counted_write_bytes(self) -> int: ...
    @property
    def write_allocate_bytes(self) -> int: ...

def tuned_specs(
    operation: str,
    element: str = "double",
    prefetch_bytes: Sequence[tuple[int, int]] = [(0, 0)],  # noqa: PYI011 - the module has it so
) -> list[KernelSpec]:
    """All tuned kernels that were compiled and can run here.

    They are listed at each near and far prefetch distance for which they were compiled; without
    any where `prefetch_bytes` is left out.
    """

def default_tuned_spec(operation: str, element: str = "double") -> KernelSpec:
    """The tuned spec to take where nothing was searched."""

def write_back_instruction() -> str:
    """How flushed stores write a line back here, such as `clwb`."""

@final
class ArrayValidation:
    @property
    def array(self) -> str: ...
    @property
    def average_relative_error(self) -> float: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def elements(self) -> int: ...
    @property
    def failed_elements(self) -> int: ...
    @property
    def first_failed(self) -> int:
        """Index; means nothing when no element failed."""

    @property
    def passed(self) -> bool: ...

@final
class StreamArrays:
    def __init__(
        self,
        team: Team,
        elements: int,
        element: str = "double",
        pages: str = "auto",
        memory: Memory | None = None,
        offset_bytes: int = 0,
        blocks: int = 1,
    ) -> None: ...
    @property
    def elements(self) -> int: ...
    @property
    def elements_per_block(self) -> int: ...
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

@final
class ChaseRing:
    def __init__(
        self,
        team: Team,
        bytes: int,
        node_bytes: int = 64,
        block_bytes: int = 0,
        order: str = "random",
        pages: str = "auto",
        memory: Memory | None = None,
        seed: int = 1,
    ) -> None: ...
    @property
    def nodes(self) -> int: ...
    def run(self, hops: int, warm_hops: int = 0, iterations: int = 1, sweeps: int = 0) -> Slice: ...
    def is_single_cycle(self) -> bool: ...
    def backing(self) -> Backing: ...
    def close(self) -> None:
        """Free the ring now; later calls raise RuntimeError."""

@final
class TrafficSpec:
    def __init__(
        self,
        reads: int = 1,
        writes: int = 0,
        store: str = "temporal",
        order: str = "sequential",
        delay: int = 0,
    ) -> None:
        """Raises RequestError when this machine cannot do it."""

    @property
    def reads(self) -> int: ...
    @property
    def writes(self) -> int: ...
    @property
    def store(self) -> str: ...
    @property
    def order(self) -> str: ...
    @property
    def delay(self) -> int: ...
    @property
    def write_allocate_bytes(self) -> int:
        """Bytes read beside each line written because a temporal store reads its line first."""

    @property
    def line_bytes(self) -> int: ...

@final
class LoadedSlice:
    @property
    def slice(self) -> Slice: ...
    @property
    def load_ns(self) -> list[tuple[int, int]]:
        """Loads timed one by one: ns with the clock's own cost, and how many, ascending."""

@final
class Traffic:
    def __init__(
        self,
        team: Team,
        bytes: int,
        first_rank: int = 0,
        pages: str = "auto",
        memory: Memory | None = None,
    ) -> None:
        """Each generating thread reads from `bytes` of memory and writes to as many others."""

    def run(
        self, spec: TrafficSpec, bytes: int, lead_in_bytes: int = 0, pingpong: bool = False
    ) -> Slice: ...
    def run_loaded(
        self,
        spec: TrafficSpec,
        ring: ChaseRing,
        hops: int,
        warm_hops: int = 0,
        iterations: int = 1,
        timed_loads: int = 0,
        lead_in_bytes: int = 0,
        pingpong: bool = False,
    ) -> LoadedSlice:
        """Thread 0 probes, the others generate: `first_rank` is 1, the ring is of the team."""

    def validate(self) -> list[ArrayValidation]: ...
    def corrupt(self, element: int) -> None: ...
    def backing(self) -> list[Backing]: ...
    def close(self) -> None:
        """Free the memory now; later calls raise RuntimeError."""

def pause_ns(team: Team, units: int, rank: int = 0) -> float:
    """Time of a pause of so many units."""

@final
class AccessBuffer:
    def __init__(
        self, team: Team, bytes: int, pages: str = "auto", memory: Memory | None = None
    ) -> None: ...
    @property
    def bytes(self) -> int: ...
    def run(
        self,
        kind: str,
        order: str,
        access_bytes: int,
        stride_bytes: int,
        slots: int,
        accesses: int,
        warm_accesses: int = 0,
        iterations: int = 1,
        spread_lines: int = 1,
        flush: bool = False,
    ) -> Slice: ...
    def backing(self) -> Backing: ...
    def close(self) -> None:
        """Free the memory now; later calls raise RuntimeError."""

@final
class ModelledSource(CounterSource):
    """Slots 0 and 1: bytes read and written that kernels of this process are known to move."""

    def __init__(self) -> None: ...

def add_known_traffic(read_bytes: int, write_bytes: int) -> None:
    """Book traffic that something else than a kernel of this module caused."""

@final
class PerfEvent:
    """An event as the kernel's perf_event_attr has it; uncore PMUs refuse the exclude bits."""

    def __init__(
        self,
        pmu_type: int,
        config: int,
        config1: int = 0,
        config2: int = 0,
        config3: int = 0,
        exclude_user: bool = False,
        exclude_kernel: bool = False,
        exclude_hv: bool = False,
        exclude_guest: bool = False,
    ) -> None: ...

def open_perf_group(
    events: Sequence[PerfEvent], pid: int = -1, cpu: int = -1, inherit: bool = False
) -> CounterSource:
    """One group; slots: enabled ns, running ns, then the value of each event.

    Raises CounterRefused with `error_number` and `event_index`; its message says neither reason
    nor remedy. Some PMUs refuse groups: open their events one by one.
    """

def open_perf_single(
    event: PerfEvent, pid: int = -1, cpu: int = -1, inherit: bool = False
) -> CounterSource:
    """One event; slots: enabled ns, running ns, value. Raises CounterRefused as above."""

def perf_refusal(event: PerfEvent, pid: int = -1, cpu: int = -1, inherit: bool = False) -> int:
    """0 where the event can be opened now, else the errno."""

@final
class NumberCell:
    """A number in a file of lines: the line that begins with `row`, and the word in it.

    `field`: the word `field=NUMBER`, else the word in `column`, 0 the first after the row's name.
    """

    def __init__(self, row: str, column: int = 0, field: str = "") -> None: ...

@final
class NumberFile:
    """A file kept open. Without cells the whole file is one number; else each cell is a slot."""

    def __init__(self, path: str, cells: Sequence[NumberCell] = []) -> None: ...

def open_number_files(files: Sequence[NumberFile]) -> CounterSource:
    """Slots of each file in order. What is not a whole number from 0 on is missing.

    Raises CounterRefused with `error_number` and `event_index`, the place of the file in the list.
    """

def process_tree_slots() -> list[str]:
    """Names of the slots of `open_process_tree`."""

def open_process_tree(
    pid: int,
    procfs: str = "/proc",
    discovery_interval_ns: int = 100000000,
    max_processes: int = 4096,
    max_threads: int = 16384,
    switches: bool = True,
) -> CounterSource:
    """Sums over a process and all its descendants; see memgauge/counters/process_tree.hpp.

    Raises CounterRefused with `error_number`.
    """

@final
class StimulusSource(CounterSource):
    """Without slots; calls `act` at every reading, on the reading thread.

    Placed first in a reader, what it causes in the reading after a region is counted in the region.
    What it raises is reported as unraisable.
    """

    def __init__(self, act: Callable[[], None]) -> None: ...

@final
class NvmlQuery:
    """What to read of one GPU.

    `call`: `field` (of number `argument` in `scope`), `power`, `energy`, `clock` (of type
    `argument`), `memory_used`, `gpu_utilisation`, `memory_utilisation` or `temperature` (of sensor
    `argument`).
    """

    def __init__(self, device: int, call: str, argument: int = 0, scope: int = 0) -> None: ...

@final
class NvmlDevice:
    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def uuid(self) -> str: ...
    @property
    def bus_id(self) -> str:
        """As the library writes it, such as `00000000:3B:00.0`; empty: not known."""

    @property
    def partitioned(self) -> bool:
        """MIG is on: all figures are of the whole GPU."""

    @property
    def error(self) -> str:
        """Why the device cannot be used; empty: it can."""

@final
class NvmlAnswer:
    @property
    def value(self) -> int | None: ...
    @property
    def bits(self) -> int:
        """Width of the driver's value: a counter of 32 wraps there."""

    @property
    def code(self) -> int:
        """The library's own number for the outcome; 0: success."""

    @property
    def error(self) -> str:
        """The library's own words; empty with a value."""

    @property
    def took_ns(self) -> int: ...

@final
class NvmlLibrary:
    """The NVIDIA management library, initialised.

    Raises RequestError: not found, not that library, or it refuses to start.
    """

    def __init__(self, file: str) -> None: ...
    @property
    def driver(self) -> str: ...
    @property
    def devices(self) -> list[NvmlDevice]: ...
    def ask(self, query: NvmlQuery) -> NvmlAnswer:
        """Ask once, and time it."""

@final
class NvmlSource(CounterSource):
    """One slot for each query; missing where a call fails."""

    def __init__(self, library: NvmlLibrary, queries: Sequence[NvmlQuery]) -> None: ...

@final
class LaneState:
    """How far a lane is: samples taken, instants missed, samples lost, and what it cost."""

    @property
    def samples(self) -> int: ...
    @property
    def missed(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def cpu_ns(self) -> int: ...
    @property
    def longest_read_ns(self) -> int: ...
    @property
    def error(self) -> str | None: ...

@final
class Lane:
    def __init__(
        self, reader: Reader, path: str, interval_ns: int, name: str = "", cpu: int | None = None
    ) -> None:
        """Sample into a new file until stopped, in threads of its own."""

    def stop(self) -> None:
        """Take a last sample and close the file."""

    def state(self) -> LaneState: ...
    def latest(self) -> Reading | None: ...

@final
class HeldProcess:
    def __init__(
        self, arguments: Sequence[bytes], paths: Sequence[bytes], environment: Sequence[bytes]
    ) -> None:
        """A process that waits; when let go it becomes the first of `paths` that can be started."""

    @property
    def pid(self) -> int: ...
    def release(self) -> int:
        """Start the program; 0, or the error number of why it could not be."""

def become_program(
    arguments: Sequence[bytes], paths: Sequence[bytes], environment: Sequence[bytes]
) -> int:
    """Replace this process by the first of `paths` that can be started; else why none could be."""

def adopt_orphans(on: bool) -> int:
    """Make orphans among the descendants children of this process; 0, or the error number."""

@final
class PcpLibrary:
    """The client library of Performance Co-Pilot: the first of `files` that can be loaded.

    It bounds each answer it waits for by 1 s, unless PMCD_REQUEST_TIMEOUT and PMCD_CONNECT_TIMEOUT
    say otherwise. Raises RequestError: no library, or its configuration, without which it would end
    the process, cannot be read.
    """

    def __init__(self, files: Sequence[str]) -> None: ...
    @property
    def file(self) -> str:
        """The name it was found by."""

@final
class PcpInstance:
    @property
    def name(self) -> str:
        """Empty: the metric has one value and no instances."""

    @property
    def available(self) -> bool:
        """It had a value when asked."""

@final
class PcpMetric:
    @property
    def name(self) -> str: ...
    @property
    def error(self) -> str:
        """Why nothing is known of it; empty: the rest is valid."""

    @property
    def type(self) -> str:
        """One of i32, u32, i64, u64, f32, f64, other."""

    @property
    def counts(self) -> bool:
        """It only grows; else it is a level."""

    @property
    def space(self) -> int:
        """Exponent of bytes in its unit."""

    @property
    def time(self) -> int:
        """Exponent of seconds."""

    @property
    def count(self) -> int:
        """Exponent of counts."""

    @property
    def space_scale(self) -> int:
        """Power of 1024 that its bytes are scaled by."""

    @property
    def time_scale(self) -> int:
        """Place of its time in ns, us, ms, s, min, h."""

    @property
    def count_scale(self) -> int:
        """Power of 10 of its counts."""

    @property
    def instances(self) -> list[PcpInstance]: ...
    @property
    def no_value(self) -> str:
        """Why it has no value, where it has none, in the library's words."""

@final
class PcpDirectory:
    """What can be asked of a daemon. Raises RequestError: no connection."""

    def __init__(self, library: PcpLibrary, host: str) -> None: ...
    def host_name(self) -> str:
        """The name of the machine whose metrics these are; empty: not known."""

    def names(self, below: str) -> list[str]:
        """All metrics at or below a name."""

    def describe(self, names: Sequence[str]) -> list[PcpMetric]:
        """One for each name, in their order."""

@final
class PcpColumn:
    """One value to read.

    `fraction_bits`: what is no integer is kept in parts of 2^-bits. `counts`: a lower value than
    before is of a new generation. `duty`: the column of its share of time; at zero there is no
    value. `gated`: no value while the source's gate is zero.
    """

    def __init__(
        self,
        metric: str,
        instance: str,
        counts: bool,
        fraction_bits: int | None = None,
        duty: int | None = None,
        gated: bool = False,
    ) -> None: ...

@final
class PcpSource(CounterSource):
    """Slot 0 is the generation, then one for each column; each reading is one fetch.

    A lost connection is made again in the background. Between values of two generations there is
    always a missing one. Raises RequestError: no connection, or none of the columns exists.
    """

    def __init__(
        self,
        library: PcpLibrary,
        host: str,
        columns: Sequence[PcpColumn],
        gate: str = "",
    ) -> None: ...

def arrays_needed(work: KernelSpec | TrafficSpec) -> tuple[int, int]:
    """Source arrays it reads and destination arrays it writes, as a Member counts them."""

@final
class Member:
    def __init__(
        self,
        rank: int,
        source: Memory | None = None,
        destination: Memory | None = None,
        sources: int = 1,
        destinations: int = 1,
    ) -> None:
        """Arrays of one thread of a team: so many (0 to 2; 0 or 1) in each memory.

        A thread may be several members and works as one of them at a time.
        """

@final
class CompetitionSlice:
    @property
    def slice(self) -> Slice:
        """`read_bytes` and `write_bytes` are those of one iteration, write-allocate left out."""

    @property
    def window_ns(self) -> tuple[int, int] | None:
        """Begin and end of the time in which all that had work were at it; None: there was none."""

    @property
    def load_ns(self) -> list[tuple[int, int]]:
        """As a LoadedSlice's, where thread 0 probed."""

@final
class Competition:
    def __init__(
        self,
        team: Team,
        members: Sequence[Member],
        array_bytes: int,
        element: str = "double",
        pages: str = "auto",
    ) -> None:
        """Each array of each member takes `array_bytes`, rounded down to whole 256 bytes."""

    @property
    def array_bytes(self) -> int: ...
    def run(
        self,
        active: Sequence[tuple[int, KernelSpec | TrafficSpec]],
        iteration_bytes: int,
        duration_ns: float = 0.0,
        iterations: int = 0,
        lead_in_iterations: int = 1,
        pingpong: bool = False,
    ) -> CompetitionSlice:
        """All work for `duration_ns`, or for so many iterations each, after which a thread sleeps.

        `active`: members by index, and what each does. `iteration_bytes`: a kernel's of each array
        it walks, traffic's of all its accesses; rounded to what the work can be cut into.
        """

    def run_probed(
        self,
        active: Sequence[tuple[int, KernelSpec | TrafficSpec]],
        iteration_bytes: int,
        ring: ChaseRing,
        hops: int,
        warm_hops: int = 0,
        iterations: int = 1,
        timed_loads: int = 0,
        lead_in_iterations: int = 1,
        pingpong: bool = False,
    ) -> CompetitionSlice:
        """Thread 0 walks the ring, `iterations` times `hops`; the others work until it is done."""

    def validate(self) -> list[ArrayValidation]:
        """Of each member that ever worked, each array: sources `s` and `t`, destination `d`."""

    def corrupt(self, member: int, element: int) -> None: ...
    def backing(self) -> list[list[Backing]]:
        """Of each member: its sources', then its destination's."""

    def close(self) -> None:
        """Free the arrays now; later calls raise RuntimeError."""

def open_file_area(descriptor: int, path: str, bytes: int, reserved_bytes: int = 0) -> Memory:
    """Memory in an open file, but for its first `reserved_bytes`; `path` names it in messages.

    Raises:
        RequestError: its file system is full, says how much is left.
    """

def open_devdax_area(
    descriptor: int,
    path: str,
    bytes: int,
    page_bytes: int,
    reserved_bytes: int = 0,
    node: int | None = None,
) -> Memory:
    """Memory of an open device of so many bytes, mapped in pages of one size."""

def open_shm_area() -> Memory:
    """Shared memory without a name."""

def file_system_of(descriptor: int) -> str:
    """Name of the kind of file system that an open file is in; empty where it is not known."""

POOL_LAYOUT: str
"""Of the pools that memgauge makes."""

def open_pool_area(descriptor: int, path: str, create: bool = False) -> Memory:
    """Memory in a pool of libpmemobj in an open file; `path` names it in messages.

    `create`: made of a file that is all zeros, as large as that.

    Raises:
        RequestError: the library is not installed; another process has the pool; it is of another
            layout, damaged or no pool.
    """

def layout_of_pool(descriptor: int) -> str | None:
    """Of the pool that an open file holds; None: it is no pool of libpmemobj, or cannot be read."""

def pool_bytes(bytes: int) -> int:
    """How large to make a pool for buffers of so many bytes in all."""

@final
class CacheLevel:
    def __init__(
        self,
        *,
        name: str,
        bytes: int,
        ways: int,
        cores: int = 1,
        replacement: str = "lru",
        inclusion: str = "non-inclusive",
        borrows_idle: bool = False,
    ) -> None: ...

@final
class CacheMachine:
    def __init__(
        self,
        *,
        name: str,
        levels: Sequence[CacheLevel],
        line_bytes: int = 64,
        sector_bytes: int = 64,
        cores: int = 1,
        idle_cores: int = 0,
        store_lines: int = 0,
        store_streams: int = 4,
        store_gap: int = 16,
        strided_steps: int = 8,
        strided_window: int = 64,
        next_line: bool = False,
        stride: bool = False,
        stride_ahead: int = 4,
    ) -> None: ...

@final
class LevelCounts:
    @property
    def hits(self) -> int: ...
    @property
    def misses(self) -> int: ...
    @property
    def write_backs(self) -> int: ...

@final
class CacheCounts:
    @property
    def loads(self) -> int: ...
    @property
    def stores(self) -> int: ...
    @property
    def store_prefetches(self) -> int: ...
    @property
    def levels(self) -> list[LevelCounts]: ...
    @property
    def load_read_bytes(self) -> int: ...
    @property
    def allocate_read_bytes(self) -> int: ...
    @property
    def software_prefetch_read_bytes(self) -> int: ...
    @property
    def hardware_prefetch_read_bytes(self) -> int: ...
    @property
    def stream_read_bytes(self) -> list[int]: ...
    @property
    def write_back_bytes(self) -> int: ...
    @property
    def bypass_write_bytes(self) -> int: ...
    @property
    def read_bytes(self) -> int: ...
    @property
    def write_bytes(self) -> int: ...

@final
class CacheModel:
    def __init__(self, machine: CacheMachine, threads: int = 1) -> None:
        """Caches that hold nothing.

        Raises:
            RequestError: a machine that makes no sense, or whose sets do not part over threads.
        """

    def access(
        self,
        addresses: ReadableBuffer,
        *,
        core: int = 0,
        bytes: int = 8,
        kind: str = "load",
        stream: int = 0,
    ) -> None:
        """Accesses of one kind at addresses in unsigned 64-bit integers."""

    def trace(self, records: ReadableBuffer, *, core: int = 0) -> None:
        """Accesses of any kind, 16 bytes each.

        Address (u64), bytes (u32), kind (u8: 0 load, 1 store, 2 store prefetch), stream (u8), and
        two bytes of padding, in the machine's byte order.
        """

    def walk(
        self,
        references: Sequence[tuple[int, int, int, str]],
        count: int,
        *,
        core: int = 0,
        outer_strides: Sequence[int] | None = None,
        outer: int = 1,
        after: Sequence[tuple[int, int, int, str]] = (),
    ) -> None:
        """Loops over references of (address, stride, bytes, kind); streams are their positions.

        After each inner loop those of `after` make one access each, in streams that go on behind.
        """

    @property
    def level_names(self) -> list[str]:
        """Of what `counts` has in `levels`: borrowed instances are a level of their own."""

    def write_back_all(self) -> None: ...
    def counts(self) -> CacheCounts: ...
    def reset_counts(self) -> None: ...
    def clear(self) -> None: ...

NEST_KINDS: list[str]
"""Names of all loop nests."""

@final
class NestSpec:
    """A loop nest of so many elements; RequestError where they make no sense."""

    def __init__(
        self,
        kind: str,
        *,
        m: int = 0,
        n: int = 0,
        cap: int = 0,
        stride: int = 0,
        planes: int = 0,
        rows: int = 0,
        cols: int = 0,
        x: int = 0,
        y: int = 0,
        tile: int = 0,
        store_prefetch: bool = False,
    ) -> None: ...
    @property
    def arrays(self) -> list[NestArray]:
        """In the order of operands."""

    @property
    def trips(self) -> int:
        """Of the innermost loop."""

@final
class NestArray:
    @property
    def name(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def element_bytes(self) -> int: ...
    @property
    def read(self) -> bool: ...
    @property
    def written(self) -> bool: ...

def simulate_nest(spec: NestSpec, bases: Sequence[Sequence[int]], model: CacheModel) -> None:
    """One execution by each core on arrays of its own that begin at `bases[core]`."""

def execute_nest(spec: NestSpec, operands: Sequence[ReadableBuffer]) -> None:
    """One execution on buffers of the caller, in this thread.

    Raises:
        RequestError: a buffer is too small, not contiguous, or to be written and read-only.
    """

@final
class LoopNest:
    def __init__(
        self,
        team: Team,
        spec: NestSpec,
        copies: int = 1,
        *,
        pages: str = "auto",
        memory: Memory | None = None,
    ) -> None: ...
    def run(self, repetitions: int = 1) -> Slice:
        """Every thread executes it so often, each stamped, on its sets of arrays in turn."""

    def validate(self) -> list[NestValidation]:
        """Of each array written, in the sets used: compared with what it must hold.

        Nothing before the first run. Of GEMM sums of rows are compared, not elements.
        """

    def array(self, rank: int, copy: int, index: int) -> memoryview:
        """Of one set, as doubles; of complex ones real and imaginary parts in turn.

        Outlives close().
        """

    def address(self, rank: int, copy: int, index: int) -> int:
        """Where it begins."""

    def corrupt(self, rank: int, array: int, element: int) -> None: ...
    def backing(self) -> list[Backing]: ...
    def close(self) -> None:
        """Free the arrays now; later calls raise RuntimeError."""

@final
class NestValidation:
    @property
    def array(self) -> str: ...
    @property
    def average_relative_error(self) -> float: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def elements(self) -> int: ...
    @property
    def failed_elements(self) -> int: ...
    @property
    def first_failed(self) -> int: ...
    @property
    def passed(self) -> bool: ...

@final
class GpuFacts:
    """A GPU as the driver describes it; None: it does not tell."""

    @property
    def index(self) -> int:
        """As the driver numbers the devices it shows: CUDA_VISIBLE_DEVICES is heeded."""

    @property
    def name(self) -> str: ...
    @property
    def uuid(self) -> str: ...
    @property
    def bus_id(self) -> str:
        """Such as 0000:3b:00.0, in lower case as sysfs has it."""

    @property
    def compute(self) -> str:
        """Compute capability, such as 9.0."""

    @property
    def multiprocessors(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def l2_bytes(self) -> int | None: ...
    @property
    def memory_clock_khz(self) -> int | None: ...
    @property
    def bus_bits(self) -> int | None: ...
    @property
    def clock_khz(self) -> int | None: ...
    @property
    def ecc(self) -> bool | None: ...
    @property
    def integrated(self) -> bool: ...
    @property
    def copy_engines(self) -> int: ...
    @property
    def mig(self) -> bool:
        """It is an instance of a partitioned GPU."""

    @property
    def error(self) -> str:
        """Why it cannot be used; empty: it can."""

@final
class GpuDriver:
    def __init__(self, file: str = "libcuda.so.1") -> None:
        """Load the CUDA driver's library and start it, which can take a second.

        Raises RequestError: it is not there, is something else, or finds no GPU.
        """

    @property
    def version(self) -> str:
        """Of the CUDA it runs, such as 13.0."""

    @property
    def devices(self) -> list[GpuFacts]: ...

@final
class Gpu:
    def __init__(self, driver: GpuDriver, index: int, compiler: str) -> None:
        """Retain the device's primary context; `compiler`: the file of NVRTC, loaded at once.

        Raises RequestError: no such device, one that is not to be had, or no NVRTC.
        """

    @property
    def facts(self) -> GpuFacts: ...
    @property
    def free_bytes(self) -> int:
        """Of its memory, now."""

    @property
    def compiler_version(self) -> str: ...
    @property
    def clock_error_ns(self) -> float | None:
        """How far the last times put on the run's clock may all be shifted; None: none were yet.

        Half of the time in which the host bracketed an event of the device. Durations are the
        device's own and not touched by it.
        """

    def peers(self) -> list[int]:
        """Other devices whose memory it can reach directly."""

    def read_with(self, reader: Reader | None) -> None:
        """Read counters around exactly the timed part of every later run on this GPU, as a Team's.

        The device is idle at both readings. None: no more.
        """

    @property
    def readings(self) -> tuple[Reading, Reading] | None:
        """Before and after the timed part of the last run; None: no reader, or no run yet."""

    def close(self) -> None:
        """Let go of it; what was made on it stays usable until it is closed itself."""

@final
class GpuKernelSpec:
    def __init__(
        self,
        operation: str,
        element: str = "double",
        variant: str = "standard",
        *,
        vector_bytes: int = 0,
        unroll: int = 1,
        hint: str = "default",
        threads_per_block: int = 256,
        blocks_per_multiprocessor: int = 0,
    ) -> None:
        """A STREAM kernel for a GPU; RequestError where there is no such one.

        standard: one element per thread, as simple GPU STREAMs have it. tuned: vectors of 16 bytes,
        `unroll` (1, 2, 4 or 8) loaded before any is stored, by so many blocks that go on through
        the arrays, or (0) one block for each tile. `vector_bytes` 0: what the variant has.
        `hint`: default, streaming (evicted first) or no-allocate (L1 passed by).
        """

    @property
    def operation(self) -> str: ...
    @property
    def element(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def vector_bytes(self) -> int: ...
    @property
    def unroll(self) -> int: ...
    @property
    def hint(self) -> str: ...
    @property
    def threads_per_block(self) -> int: ...
    @property
    def blocks_per_multiprocessor(self) -> int: ...
    @property
    def counted_read_bytes(self) -> int:
        """Bytes per element, as are the next two."""

    @property
    def counted_write_bytes(self) -> int: ...
    @property
    def write_allocate_bytes(self) -> int:
        """0: a GPU's L2 takes whole sectors that are written without reading them."""

def gpu_tuned_specs(operation: str, element: str = "double") -> list[GpuKernelSpec]:
    """What a search tries."""

def gpu_default_tuned_spec(operation: str, element: str = "double") -> GpuKernelSpec:
    """The tuned spec to take where nothing was searched."""

@final
class GpuStreamArrays:
    def __init__(self, gpu: Gpu, elements: int, element: str = "double") -> None:
        """Arrays a, b and c in device memory, filled; each of `elements`, rounded up to whole 32.

        Raises RequestError: the device has not so much memory free.
        """

    @property
    def elements(self) -> int: ...
    def prepare(self, specs: Sequence[GpuKernelSpec]) -> None:
        """Compile all these in one go, for the life of the GPU; run() does what was not."""

    def run(
        self,
        spec: GpuKernelSpec,
        *,
        lead_in_bytes: int = 0,
        iterations: int = 1,
        prefix_elements: int = 0,
        repeats: int = 1,
    ) -> Slice:
        """One thread's slice with a stamp for each iteration: one launch over the whole arrays.

        `lead_in_bytes`: untimed before, the same kernel over so much of the end of each array.
        `prefix_elements` (read only; whole 32): walk just those, L1 passed by, `repeats` times
        within each launch; once untimed before. Bytes are not counted in the slice.
        """

    def validate(self) -> list[ArrayValidation]:
        """Of a, b and c: every element compared, on the device."""

    def corrupt(self, array: str, element: int) -> None: ...
    def close(self) -> None:
        """Free the arrays now; later calls raise RuntimeError."""

@final
class GpuTraffic:
    def __init__(self, gpu: Gpu, bytes: int) -> None:
        """Memory to read from, and as much to write to; each rounded up to whole 1 MiB."""

    @property
    def bytes(self) -> int:
        """Of what is read from, and of what is written to."""

    def prepare(self, mixes: Sequence[tuple[int, int]]) -> None:
        """Compile kernels for all these (reads, writes) in one go."""

    def run(
        self,
        reads: int,
        writes: int,
        *,
        bytes: int,
        hint: str = "default",
        lead_in_bytes: int = 0,
        iterations: int = 1,
    ) -> Slice:
        """Loads and stores of 16 bytes in the ratio asked for, going on from where it was.

        `bytes`: of all accesses of one iteration, rounded up to whole steps of whole blocks.
        `read_bytes` and `write_bytes` of the slice are exact, of all iterations together.
        """

    def validate(self) -> list[ArrayValidation]:
        """Every 16 bytes written to hold what the last store there put: array `w`."""

    def corrupt(self, element: int) -> None: ...
    def close(self) -> None:
        """Free the memory now; later calls raise RuntimeError."""

@final
class GpuChase:
    def __init__(
        self,
        gpu: Gpu,
        bytes: int,
        node_bytes: int = 128,
        *,
        through: str = "l1",
        order: str = "random",
        block_bytes: int = 0,
        seed: int = 1,
    ) -> None:
        """A ring of dependent loads in device memory, walked by one thread.

        `through`: l1 (L1, then L2) or l2 (L1 passed by). `order`: random, stride, or block-random:
        all nodes of one block of `block_bytes`, then of another, so that TLB misses become rare.
        """

    @property
    def nodes(self) -> int: ...
    def run(self, hops: int, warm_hops: int = 0, iterations: int = 1, sweeps: int = 0) -> GpuWalk:
        """`iterations` stamped walks of `hops` each, within one launch, after `warm_hops`.

        It goes on from where the last walk ended. `sweeps`: untimed before, so often all
        multiprocessors read the whole ring, L1 passed by: into the L2 at the speed of bandwidth.
        """

    def is_single_cycle(self) -> bool:
        """Walks the ring once: whether every node is visited exactly once."""

    def close(self) -> None:
        """Free the ring now; later calls raise RuntimeError."""

@final
class GpuWalk:
    @property
    def slice(self) -> Slice:
        """Stamps by the device's %globaltimer inside the kernel, on the run's clock."""

    @property
    def cycles(self) -> list[int]:
        """Of the multiprocessor's clock, for each iteration."""

    @property
    def cycles_per_ns(self) -> float | None:
        """Its frequency meanwhile; None: too short a time for the timer's resolution."""

    @property
    def timer_resolution_ns(self) -> int: ...

@final
class GpuTransfers:
    def __init__(
        self,
        gpu: Gpu,
        bytes: int,
        *,
        host: str = "pinned",
        memory: Memory | None = None,
        peer: Gpu | None = None,
    ) -> None:
        """Buffers of `bytes` for each direction, at both ends: the GPU, and the host or a peer.

        `host`: pinned, by the driver, or of `memory` (nodes, an area) and then registered; or
        pageable. Raises RequestError: not so much memory, or it cannot be pinned.
        """

    def run(self, direction: str, bytes: int, *, iterations: int = 1, repeats: int = 1) -> Slice:
        """Copies of `bytes`, `repeats` for each of `iterations` stamps, back to back.

        `direction`: host-to-device, device-to-host, both; with a peer to-peer, from-peer,
        both-peers. One thread's slice for each direction, in this order; bytes are not counted in
        it. Stamps are the GPU's, from event to event; of pageable memory the host's.
        """

    def start(self, direction: str, bytes: int, *, iterations: int = 1, repeats: int = 1) -> None:
        """Queue a run and return at once; RequestError for pageable memory."""

    def finish(self) -> Slice:
        """Wait for what was started."""

    @property
    def host_was_slower(self) -> bool:
        """Of the last run by events: copies may have waited for the host to queue them."""

    @property
    def direct(self) -> bool:
        """With a peer: each reaches the other's memory."""

    def validate(self) -> list[ArrayValidation]:
        """Each 8 bytes that arrived since the last call: d on this GPU, h on the host, p beyond."""

    def corrupt(self, direction: str, element: int) -> None: ...
    def backing(self) -> list[Backing]:
        """Of the host's buffers; none where the driver allocates them."""

    def close(self) -> None:
        """Free the buffers now; later calls raise RuntimeError."""

@final
class GpuNest:
    def __init__(self, gpu: Gpu, spec: NestSpec, copies: int = 1) -> None:
        """Sets of a loop nest's arrays in device memory, used in turn.

        Raises RequestError: the device has not so much memory free, or stores are to be prefetched.
        """

    def run(self, repetitions: int = 1) -> Slice:
        """One thread's slice with a stamp for each execution, each on the next set.

        A device's thread for each trip of the innermost loop; of GEMV and GEMM, for each element of
        the result.
        """

    def validate(self) -> list[NestValidation]:
        """What was written, against what the arrays read were filled with; nothing before run()."""

    def corrupt(self, array: int, element: int) -> None: ...
    def close(self) -> None:
        """Free the memory now; later calls raise RuntimeError."""

@final
class CuptiMetric:
    """What CUPTI says of a metric, in its own words."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def hardware_unit(self) -> str:
        """What counts, such as `dram`."""

    @property
    def dimension(self) -> str:
        """Of one count: `byte`, `l2_sector`."""

@final
class CuptiDevice:
    """A GPU as CUPTI sees it."""

    @property
    def index(self) -> int:
        """As the driver numbers what it shows."""

    @property
    def chip(self) -> str:
        """Such as `GH100`; empty: not known."""

    @property
    def range_error(self) -> str:
        """Why it cannot be counted by ranges; empty: nothing stands against it."""

    @property
    def sampling_error(self) -> str: ...

@final
class CuptiLibrary:
    """CUPTI, loaded and never unloaded.

    Raises RequestError: not found, not CUPTI, or older than that of CUDA 12.6.
    """

    def __init__(self, file: str, driver: str = "libcuda.so.1") -> None: ...
    @property
    def version(self) -> int:
        """As cuptiGetVersion gives it: 28 with CUDA 12.9, 130001 with 13.0; 0: not known."""

    @property
    def chips(self) -> list[str]:
        """Whose metrics it knows, with or without a GPU."""

    def devices(self) -> list[CuptiDevice]:
        """Starts the driver when first called, which takes up to a second.

        Raises RequestError: no driver, or CUPTI does not start with it.
        """

@final
class CuptiMetrics:
    """Questions about one chip, counted by `range` or by `sampling`; no GPU is needed.

    Raises RequestError: the library does not know the chip, or not this way for it.
    """

    def __init__(self, library: CuptiLibrary, chip: str, way: str) -> None: ...
    def names(self) -> list[str]:
        """Of all counters, without their rollups."""

    def describe(self, name: str) -> CuptiMetric:
        """Of a name with its rollup, such as `dram__bytes_read.sum`."""

    def passes(self, names: Sequence[str]) -> int:
        """Over the same work, to count all of them. RequestError: not together at all."""

@final
class CuptiRangeSource(CounterSource):
    """Sums of metrics over what this process does on a device, a slot for each metric.

    The counters run from the end of a reading to the begin of the next. A reading waits until the
    device has done all work of this process, and takes milliseconds itself.
    """

    def __init__(self, library: CuptiLibrary, device: int, metrics: Sequence[str]) -> None: ...
    @property
    def error(self) -> str:
        """Of the last reading that failed; empty: none did."""

    def close(self) -> None:
        """Free the device's counters now: later readings are missing."""

@final
class CuptiSamplingSource(CounterSource):
    """Sums of metrics over what any process does on a device, sampled by the hardware.

    A slot for each metric, and one for the number of times that samples were lost.
    """

    def __init__(
        self,
        library: CuptiLibrary,
        device: int,
        metrics: Sequence[str],
        interval_ns: int,
        longest_gap_ns: int,
    ) -> None: ...
    @property
    def error(self) -> str:
        """Of the last reading that failed; empty: none did."""

    def close(self) -> None:
        """Free the device's counters now: later readings are missing."""

    @property
    def by_clock(self) -> bool:
        """Whether the interval is of cycles of the GPU's clock, and so only roughly as asked."""
