"""What is known of each experiment before its code is loaded: one descriptor for each.

Commands, functions of the Python API, the survey, titles and questions of reports, the rows of the
README's table and of the index in docs/ follow from it. By its name an experiment has

- `memgauge NAME`, or `memgauge WORD SUBCOMMAND` where the name holds an underscore, unless its
  descriptor names another command,
- its code in `experiments/NAME/` and its analysis, `analyse`, in `analysis/NAME/section.py`,
- its page `docs/NAME.md`.

Modules are named here, not imported: a machine that only renders reports may lack the native core.
"""

from __future__ import annotations

import msgspec


class Descriptor(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment, or another kind of run that has a section of its own in a report."""

    name: str
    title: str
    """Of its report, and of its section of a survey's report."""
    summary: str
    """What its command does, in a line."""
    question: str
    """What it answers: stands above its section, and in the index of the documentation."""
    host: str | None = None
    """Module in `experiments/NAME/` and class in it, which also names the parameters. None: no
    experiment: a runner of its own makes these runs."""
    gpu: str | None = None
    """The class that takes its place where the memory requested is a GPU's, with the same name and
    parameters. None: it measures no GPU."""
    in_survey: bool = True
    """Whether a survey runs it. Its command and its function of the API then follow from its
    parameters; all others have a file `commands/NAME.py`."""
    command: str = ""
    """Its command after `memgauge`; empty: its name, with a space for each underscore."""
    has_program: bool = False
    """Whether its command ends with that of a program, before which its options stand."""
    shares_page: str | None = None
    """The experiment whose page in docs/ describes it too."""

    @property
    def words(self) -> list[str]:
        """Its command, as words after `memgauge`."""
        return (self.command or self.name.replace("_", " ")).split()

    @property
    def page(self) -> str:
        """Its page, from the root of the repository."""
        return f"docs/{self.shares_page or self.name}.md"


_KNOWN = (
    Descriptor(
        name="stream",
        title="Memory bandwidth",
        summary="Bandwidth of STREAM's kernels, standard and tuned.",
        question="How many bytes a second do simple loops over large arrays move?",
        host="host:Stream",
        gpu="gpu:GpuStream",
    ),
    Descriptor(
        name="latency",
        title="Memory latency",
        summary="Idle load-to-use latency of each cache and of memory.",
        question="How long does one load wait for its data when nothing else is going on?",
        host="host:Latency",
        gpu="gpu:GpuLatency",
    ),
    Descriptor(
        name="workingset",
        title="Working sets",
        summary="Latency and read bandwidth over footprints.",
        question="How do latency and bandwidth change with the data, and how large are the caches?",
        host="host:Workingset",
        gpu="gpu:GpuWorkingset",
    ),
    Descriptor(
        name="loaded",
        title="Latency under load",
        summary="Memory latency under load, over bandwidth.",
        question="How long does a load wait while others use the memory, and how much do they get?",
        host="host:Loaded",
    ),
    Descriptor(
        name="mix",
        title="Read-write mixes",
        summary="Bandwidth over the share of reads and writes.",
        question="How does bandwidth change as writes replace reads?",
        host="host:Mix",
        gpu="gpu:GpuMix",
    ),
    Descriptor(
        name="stride",
        title="Pattern, stride and granularity",
        summary="Cost of accesses by size, stride and order.",
        question="How does the cost of an access depend on its size, stride and order?",
        host="host:Stride",
    ),
    Descriptor(
        name="pages",
        title="Address translation",
        summary="Cost of address translation by page size and stride.",
        question="How far does each level of the TLB reach, and what does a miss cost?",
        host="host:Pages",
    ),
    Descriptor(
        name="misses",
        title="Cost of cache misses",
        summary="Cost of cache misses by footprint and pattern.",
        question="What does a cache miss cost, and how much of it do overlap and prefetching hide?",
        host="host:Misses",
    ),
    Descriptor(
        name="tiers",
        title="Two memories in competition",
        summary="Bandwidth of two kinds of memory, alone and at once, by split of threads.",
        question="How fast are two memories, alone and at once, and how should threads be split?",
        host="host:Tiers",
        gpu="gpu:GpuTiers",
    ),
    Descriptor(
        name="numa",
        title="NUMA matrices",
        summary="Bandwidth and latency of every CPU node and memory node.",
        question="How fast is each memory node from each CPU node, alone and with all pairs at "
        "once?",
        host="host:Numa",
    ),
    Descriptor(
        name="interleave",
        title="Interleave weights",
        summary="Interleave weights of nodes that give the most bandwidth.",
        question="Which weights for distributing pages over nodes give the most bandwidth?",
        host="host:Interleave",
    ),
    Descriptor(
        name="core_to_core",
        title="Core to core",
        summary="Latency of a cache line from each CPU to each, and throughput of a contended one.",
        question="How long does a CPU wait for a line that another wrote, and which CPUs are near?",
        host="host:CoreToCore",
        command="core-to-core",
    ),
    Descriptor(
        name="transfers",
        title="Transfers to and from a GPU",
        summary="Transfers between host and GPU, and between GPUs.",
        question="How fast does data get to the GPU and back, and from which size on is it worth "
        "it?",
        host="gpu:Transfers",
        gpu="gpu:Transfers",
    ),
    Descriptor(
        name="counters_verify",
        title="Verification of counters",
        summary="Check each counter of memory traffic against traffic that is known.",
        question="Do the counters of memory traffic count what memory really moves?",
        host="host:CountersVerify",
        gpu="gpu:GpuCountersVerify",
        in_survey=False,
    ),
    Descriptor(
        name="counters_compare",
        title="Two routes to the same counters",
        summary="Read the same regions through two back ends, and report how far they differ.",
        question="Do two ways to the same counters give the same figures?",
        host="host:CountersCompare",
        in_survey=False,
        shares_page="counters_verify",
    ),
    Descriptor(
        name="traffic",
        title="Expected, simulated, measured",
        summary="Compare a kernel's expected traffic with what caches and counters make of it.",
        question="What should a loop nest read and write, what would caches make of it, what is "
        "counted?",
        host="host:Traffic",
        gpu="gpu:GpuNestTraffic",
        in_survey=False,
    ),
    Descriptor(
        name="diagnose",
        title="Diagnosis of a program",
        summary="What limits a program, and what would help: measured by pressure and variants.",
        question="Is the program limited by memory, by what of it, and what would help?",
        host="host:Diagnose",
        in_survey=False,
        has_program=True,
    ),
    Descriptor(
        name="profile",
        title="Profile of a program",
        summary="Run a program and record a timeline of everything that can be counted meanwhile.",
        question="What did the machine do while the program ran, and which phases does it have?",
        in_survey=False,
    ),
    Descriptor(
        name="watch",
        title="Memory over time",
        summary="Watch memory live: latency and bandwidth against a baseline, steal, pressure.",
        question="Is memory slower than usual, since when, and what went on beside it?",
        in_survey=False,
    ),
    Descriptor(
        name="fft3d",
        title="Distributed 3-D FFT",
        summary="Transform a distributed 3-D array under mpirun, with a timeline of each rank.",
        question="How long does each phase take on each rank, and what should it move?",
        in_survey=False,
    ),
)

DESCRIPTORS: dict[str, Descriptor] = {one.name: one for one in _KNOWN}
"""By name, those of a survey in its order. Adding an experiment to memgauge is one entry above."""

SURVEYED: dict[str, Descriptor] = {name: one for name, one in DESCRIPTORS.items() if one.in_survey}

SURVEYED_COMMANDS: dict[str, Descriptor] = {" ".join(one.words): one for one in SURVEYED.values()}
"""The same by the word of their commands, which is also what users choose them by."""


def title_of(name: str) -> str:
    """What an experiment's report is called; its name, where this version does not know it."""
    return DESCRIPTORS[name].title if name in DESCRIPTORS else name
