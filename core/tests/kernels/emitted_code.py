"""Proves from the disassembled library what the compiler made of the kernels.

Usage: emitted_code.py OBJDUMP PROCESSOR LIBRARY. Ends with a list of what is wrong, if anything.

For every tuned kernel: streaming stores where they are asked for and nowhere else, closed by a
fence; prefetches of the asked levels only; a loop with all the vector loads and stores that its
unrolling and sub-streams ask for, of the full vector width. For the traffic generator's: all loads
and stores of a piece, streaming ones where asked for only, and no fence, which would empty the
pipeline after each piece. For every plain loop: no streaming store, and vectors as wide as those
that its file was compiled for. For every kernel: no call, so that no loop has become memcpy. For
every instruction-set file: no function outside its own namespace, which the linker might pick for
code that runs on lesser processors. And loop nests that prefetch loads really do: a compiler may
take a loop of prefetches for one without effects.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

OPERATIONS = ["copy", "scale", "add", "triad", "read", "write", "update"]
SOURCES = {"copy": 1, "scale": 1, "add": 2, "triad": 2, "read": 1, "write": 0, "update": 2}
MIN_SUMS = 8  # least_sums in src/kernels/pattern.hpp
SLOTS = 8  # slots_per_piece in src/kernels/traffic_table.hpp
REGISTERS_PER_LINE = {"avx512": 1, "avx2": 2, "sse2": 4, "generic": 4, "neon": 4, "vsx": 8}
TRAFFIC_KERNELS = {"temporal": 2 * (SLOTS + 1), "streaming": 2 * SLOTS}

TUNED = re.compile(
    r"kernels::(?P<isa>\w+)::(?P<pattern>map|ramp|sum)_kernel<"
    r"(?:\(memgauge::Operation\)(?P<operation>\d), )?(?P<element>float|double)"
    r"(?:, \(memgauge::StoreKind\)(?P<store>\d))?"
    r", (?P<unroll>\d)u?(?:l|ul)?, (?P<streams>\d)u?(?:, (?P<prefetch>\d)u?)?>"
)
TRAFFIC = re.compile(
    r"kernels::(?P<isa>\w+)::traffic_kernel<\(memgauge::StoreKind\)(?P<store>\d)"
    r", \(memgauge::TrafficOrder\)(?P<order>\d), (?P<reads>\d)u?>"
)
CLOSE = re.compile(r"kernels::(?P<isa>\w+)::traffic_close<")
TRANSLATED = re.compile(r"::translated_(\w+)<(float|double), \(memgauge::Access\)[123]>\(")
STANDARD = re.compile(
    r"kernels::(?P<isa>standard_\w+)::standard_(?P<operation>\w+)<(float|double)>\("
)
PREFETCHING_NEST = re.compile(r"nests::run_prefetching\(|nests::run_prefetching<|Running<.*\)2>::")
LEAST_PREFETCHES = 8
"""Of loads and of stores: of each of the body's references, near and far, at least."""
MEMBER = re.compile(r"(?:isa_|(?=standard_))(\w+)\.cpp\.o:")
FUNCTION = re.compile(r"^([0-9a-f]+) <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$")
RELOCATION = re.compile(r"^\s+[0-9a-f]+: R_\w+\t(.*)$")


class Processor(NamedTuple):
    """How one architecture writes what the test looks for; patterns match `mnemonic operands`."""

    load: str
    store: str
    stream: str
    fence: str
    near: str
    far: str
    load_ahead: str
    """What a compiler makes of a prefetch for loads; binutils write one in several ways."""
    store_ahead: str
    call: str
    loads_per_vector: dict[str, int]
    """Registers that one vector of an instruction set takes; 1 where not named."""
    registers: str = r"(?!)"
    """A load or store of two registers."""


X86 = Processor(
    load=r"v?(movu|mova|add|mul)p[sd] (-?0x[0-9a-f]+)?\([^)]*\),",
    store=r"v?mov(nt|u|a)p[sd] %[xyz]mm\d+,(-?0x[0-9a-f]+)?\(",
    stream=r"v?movntp[sd] ",
    fence=r"sfence",
    near=r"prefetchnta ",
    far=r"prefetcht1 ",
    load_ahead=r"prefetcht0 ",
    store_ahead=r"prefetch(t0|w) ",
    call=r"call",
    loads_per_vector={},
)
AARCH64 = Processor(
    load=r"(ldn?p|ldu?r) q",
    store=r"(stn?p|stu?r) q",
    stream=r"stnp ",
    fence=r"dmb\s+ishst",
    near=r"prfm pldl1strm",
    far=r"prfm pldl2keep",
    load_ahead=r"prfm pldl1keep",
    store_ahead=r"prfm pstl1keep",
    call=r"blr? ",
    loads_per_vector={"neon": 2},
    registers=r"(ldn?p|stn?p) q",
)
PPC64LE = Processor(
    load=r"(lxvd2x|lxvw4x|lxv|lxvx|lvx) ",
    store=r"(stxvd2x|stxvw4x|stxv|stxvx|stvx) ",
    stream=r"dcbz ",
    fence=r"lwsync",
    near=r"dcbtt ",
    far=r"dcbt(ct)? ",
    load_ahead=r"dcbt(ct)? ",
    store_ahead=r"dcbtst(ct)? ",
    call=r"bl ",
    loads_per_vector={"vsx": 2},
)
PROCESSORS = {
    "x86_64": X86,
    "AMD64": X86,
    "aarch64": AARCH64,
    "arm64": AARCH64,
    "ppc64le": PPC64LE,
    "powerpc64le": PPC64LE,
}


class Function(NamedTuple):
    """One disassembled function."""

    member: str | None
    """The instruction set whose file it is in."""
    name: str
    code: list[tuple[int, str]]
    """Address and `mnemonic operands` of each instruction, relocations among them."""

    def count(self, pattern: str) -> int:
        """How many instructions match."""
        return sum(re.match(pattern, text) is not None for _, text in self.code)

    def loops(self) -> Iterator[list[str]]:
        """The instructions between the target of each backward jump and the jump."""
        for end, text in self.code:
            jump = re.search(r"\b([0-9a-f]+) <", text)
            if jump and re.match(r"j|b", text) and int(jump[1], 16) < end:
                yield [other for at, other in self.code if int(jump[1], 16) <= at <= end]


def functions(objdump: str, library: str) -> Iterator[Function]:
    """All functions of a static library."""
    command = [objdump, "-drC", "--no-show-raw-insn", library]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    member: str | None = None
    function = Function(None, "", [])
    for line in listing.splitlines():
        if "file format" in line:
            found = MEMBER.search(line)
            member = found[1] if found else None
        elif start := FUNCTION.match(line):
            yield function
            function = Function(member, start[2], [])
        elif instruction := INSTRUCTION.match(line):
            text = f"{instruction[2]} {instruction[3]}"
            function.code.append((int(instruction[1], 16), text))
        elif (relocation := RELOCATION.match(line)) and function.code:
            function.code.append((function.code[-1][0], f"relocation {relocation[1]}"))
    yield function


def weight(lines: list[str], pattern: str, processor: Processor) -> int:
    """Registers loaded or stored by the lines that match."""
    matching = [line for line in lines if re.match(pattern, line)]
    return sum(2 if re.match(processor.registers, line) else 1 for line in matching)


def faults_of_tuned(function: Function, spec: re.Match[str], processor: Processor) -> Iterator[str]:
    """What a tuned kernel lacks of its specification, or has beside it."""
    isa, unroll, streams = spec["isa"], int(spec["unroll"]), int(spec["streams"])
    operation = {"sum": "read", "ramp": "write"}.get(
        spec["pattern"], OPERATIONS[int(spec["operation"] or 0)]
    )
    streaming = spec["store"] == "1"
    level = int(spec["prefetch"] or 0)
    steps = unroll * streams * processor.loads_per_vector.get(isa, 1)
    loads = max(steps * SOURCES[operation], MIN_SUMS if operation == "read" else 0)
    stores = 0 if operation == "read" else steps

    loops = list(function.loops())
    best = max(loops, key=lambda lines: weight(lines, processor.load, processor), default=[])
    if (found := weight(best, processor.load, processor)) < loads:
        yield f"{found} vector loads in the loop, not {loads}"
    most = max((weight(lines, processor.store, processor) for lines in loops), default=0)
    if most < stores:
        yield f"{most} vector stores in the loop, not {stores}"
    if (function.count(processor.stream) > 0) != streaming:
        yield "streaming stores are " + ("missing" if streaming else "present unasked")
    if streaming and not function.count(processor.fence):
        yield "no fence after streaming stores"
    hints = [("near", processor.near, 1), ("far", processor.far, 2)]
    if isa == "generic":  # the compiler's prefetch, which may be one instruction for all levels
        hints = [("any", f"{processor.near}|{processor.far}", 1)]
    for name, pattern, least in hints:
        if (function.count(pattern) > 0) != (level >= least):
            yield f"{name} prefetch is " + ("missing" if level >= least else "present unasked")
    yield from faults_of_width(isa, loops)


def faults_of_traffic(
    function: Function, spec: re.Match[str], processor: Processor
) -> Iterator[str]:
    """What a kernel of the traffic generator lacks, or has beside it."""
    isa, reads, streaming = spec["isa"], int(spec["reads"]), spec["store"] == "1"
    # There are two pieces, of which one reads in a slot more; if there is one more. A compiler may
    # give each a loop of its own, and there are no heads and tails: all of the code is counted.
    pieces = [reads, reads + 1] if reads < SLOTS else [reads]
    line = REGISTERS_PER_LINE[isa]
    for name, pattern, slots in [
        ("loads", processor.load, sum(pieces)),
        ("stores", processor.store, sum(SLOTS - piece for piece in pieces)),
    ]:
        found = weight([text for _, text in function.code], pattern, processor)
        if found < 2 * slots * line:
            yield f"{found} vector {name}, not {2 * slots * line}"
    if (function.count(processor.stream) > 0) != streaming:
        yield "streaming stores are " + ("missing" if streaming else "present unasked")
    if function.count(processor.fence):
        yield "a fence within traffic"
    yield from faults_of_width(isa, list(function.loops()))


def faults_of_standard(
    function: Function, spec: re.Match[str], processor: Processor
) -> Iterator[str]:
    """What a plain loop has beside what a compiler makes of it."""
    if function.count(processor.stream):
        yield "a streaming store in a plain loop"
    if spec["operation"] != "read":  # its sums need not fill the widest vector
        yield from faults_of_width(spec["isa"], list(function.loops()))


def faults_of_width(isa: str, loops: list[list[str]]) -> Iterator[str]:
    """Whether the loops use the registers the instruction set is named for."""
    text = "\n".join("\n".join(lines) for lines in loops)
    kind = isa.removeprefix("standard_")
    widest = {"avx512": "%zmm", "avx2": "%ymm", "sse2": "%xmm"}.get(kind)
    if widest and widest not in text:
        yield f"no {widest} register is used"
    if kind == "avx2" and "%zmm" in text:
        yield "512-bit registers in a kernel for AVX2"


def faults_of(function: Function, processor: Processor) -> Iterator[str]:
    """What is wrong with any function of the library."""
    tuned, standard = TUNED.search(function.name), STANDARD.search(function.name)
    traffic, close = TRAFFIC.search(function.name), CLOSE.search(function.name)
    if function.member and f"kernels::{function.member}::" not in function.name:
        yield "outside the namespace of its instruction set"
    if "_kernel<" in function.name and not tuned and not traffic:
        yield "its name is not understood by this test"
    if close and close["isa"] != "generic" and not function.count(processor.fence):
        yield "no fence to close streaming stores"
    if TRANSLATED.search(function.name) and function.count(r"relocation mem(cpy|move|set)"):
        yield "it calls a function that is no part of translation"
    if not tuned and not standard and not traffic:
        return
    if function.count(processor.call) or function.count(r"relocation mem(cpy|move|set)"):
        yield "it calls a function"
    if tuned:
        yield from faults_of_tuned(function, tuned, processor)
    if traffic:
        yield from faults_of_traffic(function, traffic, processor)
    if standard:
        yield from faults_of_standard(function, standard, processor)


def main(objdump: str, name: str, library: str) -> None:
    """Ends the process with the list of faults, if there are any."""
    processor = PROCESSORS[name]
    kernels: dict[str, int] = {}
    traffic: dict[str, int] = {}
    faults = []
    ahead = {"loads": 0, "stores": 0}
    for function in functions(objdump, library):
        if PREFETCHING_NEST.search(function.name):
            ahead["loads"] += function.count(processor.load_ahead)
            ahead["stores"] += function.count(processor.store_ahead)
        kind = TUNED.search(function.name) or STANDARD.search(function.name)
        if kind:
            kernels[kind["isa"]] = kernels.get(kind["isa"], 0) + 1
        if found := TRAFFIC.search(function.name):
            traffic[found["isa"]] = traffic.get(found["isa"], 0) + 1
        faults += [f"{function.name}: {fault}" for fault in faults_of(function, processor)]
    sys.stdout.write(f"kernels looked at: {kernels}, of traffic: {traffic}\n")
    sys.stdout.write(f"prefetches in loop nests that prefetch loads: {ahead}\n")
    for isa in (name for name in kernels if not name.startswith("standard_")):
        stores = ["temporal"] if isa == "generic" else ["temporal", "streaming"]
        if traffic.get(isa, 0) != sum(TRAFFIC_KERNELS[store] for store in stores):
            faults.append(f"traffic kernels of {isa} are missing")
    plain = [count for isa, count in kernels.items() if isa.startswith("standard_")]
    if not plain or min(plain) < 2 * len(OPERATIONS) or len(kernels) < 3:
        faults.append(f"kernels are missing from {library}")
    for what, count in ahead.items():
        if count < LEAST_PREFETCHES:
            faults.append(f"only {count} prefetches for {what} in loop nests that prefetch loads")
    if faults:
        raise SystemExit("\n".join([*faults[:40], f"{len(faults)} faults"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
