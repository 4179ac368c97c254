"""Simulates each access of a program, traced by valgrind's lackey, on all caches of a machine.

Source: the Valgrind User Manual, 11 (lackey), --trace-mem: a line for each access, ` L` load, ` S`
store, ` M` both to one place, `I` instruction; hexadecimal address and bytes. At the end of the
program, but not if it is replaced by another through exec, lackey prints `Exit code`.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.simulated_program import ProgramLevel, SimulatedProgram
from memgauge.simulation.valgrind import (
    OPTIONS,
    Valgrind,
    by_path,
    how_it_ended,
    nothing_counted,
    running,
)
from memgauge.system.programs.program import Ended

if TYPE_CHECKING:
    from memgauge import _core

CHUNK_BYTES = 1 << 20
_POLL_S = 0.2
_GATHER_S = 0.002
"""Seconds between two reads: lackey writes line by line, and waking up for each line is costly."""
_ACCESS = re.compile(rb"^ ([LSM]) ([0-9a-f]{1,16}),([0-9]{1,4})$", re.MULTILINE)
"""Addresses have 64 bits, and accesses are no larger than any processor's state.

Others are damaged.
"""
_STORE = 1 << 32
"""Kind 1 in the fifth byte of a record's second word, behind its bytes (little-endian)."""


class _Traced(NamedTuple):
    """The outcome of an execution."""

    ended: Ended
    counts: _core.CacheCounts
    """Counts of the model before modified lines are written back."""
    levels: list[ProgramLevel]
    left_changed_bytes: int
    took_s: float
    was_replaced: bool
    """Whether the program was replaced by another through exec, which was not simulated."""


class _Executed(NamedTuple):
    """How an execution ended, and what valgrind printed."""

    ended: Ended
    last_remark: str
    """Its last message."""
    was_replaced: bool


def simulate_by_trace(
    command: Sequence[str],
    machine: CacheMachine,
    valgrind: Valgrind,
    output: int | IO[bytes] | None = None,
) -> SimulatedProgram:
    """Execute the program once; each access goes through one core of the machine.

    Args:
        command: The program, found as a shell finds it, and its arguments.
        machine: Machine whose caches are all simulated.
        valgrind: The installed valgrind.
        output: Descriptor or file for the program's standard output; None for this process's own.

    Raises:
        RequestError: the machine is inconsistent, or the program's addresses need too many tables.
        SimulationFailed: valgrind could not execute it.
    """
    model = cache_model(machine)
    began = time.monotonic()
    executed = _execute(command, valgrind, model, output)
    counts = model.counts()
    if not counts.loads + counts.stores:
        raise nothing_counted(command, executed.ended, executed.last_remark)
    model.write_back_all()
    traced = _Traced(
        ended=executed.ended,
        counts=counts,
        levels=_levels(model, counts),
        left_changed_bytes=model.counts().write_back_bytes - counts.write_back_bytes,
        took_s=time.monotonic() - began,
        was_replaced=executed.was_replaced,
    )
    return _program(command, machine, valgrind, traced)


def records_of(text: bytes) -> array[int]:
    """Data accesses in lackey's lines, in the form `CacheModel.trace` expects."""
    words: array[int] = array("Q")
    for kind, address, size in _ACCESS.findall(text):
        at, length = int(address, 16), int(size)
        if kind != b"S":
            words.append(at)
            words.append(length)
        if kind != b"L":
            words.append(at)
            words.append(length | _STORE)
    return words


def _program(
    command: Sequence[str], machine: CacheMachine, valgrind: Valgrind, traced: _Traced
) -> SimulatedProgram:
    """The model's counts, with notes on what lackey does not report."""
    counts = traced.counts
    return SimulatedProgram(
        command=list(command),
        machine=machine,
        engine="trace",
        valgrind=valgrind.version,
        levels=traced.levels,
        load_read_bytes=counts.load_read_bytes,
        allocate_read_bytes=counts.allocate_read_bytes,
        instruction_read_bytes=None,
        prefetch_read_bytes=counts.hardware_prefetch_read_bytes,
        write_back_bytes=counts.write_back_bytes,
        bypass_write_bytes=counts.bypass_write_bytes,
        left_changed_bytes=traced.left_changed_bytes,
        left_changed_at_most_bytes=traced.left_changed_bytes,
        instructions=None,
        processes=1,
        left_out_processes=None,
        uncounted_programs=int(traced.was_replaced),
        exit_code=traced.ended.exit_code,
        signal=traced.ended.signal,
        took_s=traced.took_s,
        notes=[
            "instructions are not simulated",
            "processes that the program starts are not simulated",
            "an access that lies in two sectors counts as two",
            "a read-modify-write instruction counts as a load, which reads its line, and a store",
        ],
    )


def _execute(
    command: Sequence[str],
    valgrind: Valgrind,
    model: _core.CacheModel,
    output: int | IO[bytes] | None,
) -> _Executed:
    reading, writing = os.pipe()
    try:
        with suppress(OSError):  # a larger pipe is only faster
            fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, CHUNK_BYTES)
        words = [
            valgrind.path,
            "--tool=lackey",
            *OPTIONS,
            "--trace-mem=yes",
            "--child-silent-after-fork=yes",
            f"--log-fd={writing}",
            *by_path(command),
        ]
        with running(words, output=output, keep=[writing]) as child:
            os.close(writing)
            writing = -1
            last_remark, is_whole = b"", False
            for text in _whole_lines(reading, lambda: child.poll() is not None):
                model.trace(records_of(text))
                for remark in _remarks(text):
                    last_remark = remark
                    is_whole |= remark.startswith(b"==%d== Exit code:" % child.pid)
            ended = how_it_ended(child)
            return _Executed(
                ended=ended,
                last_remark=last_remark.decode("utf-8", "replace"),
                was_replaced=not is_whole and ended.signal != signal.SIGKILL,
            )
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)


def _whole_lines(reading: int, has_ended: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the data in whole lines until no process can write any more.

    A process that outlives the program may keep the pipe open; this function does not wait for it.
    """
    rest = b""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    while True:
        over = has_ended()
        if not poll.poll(0 if over else _POLL_S * 1000):
            if over:
                break
            continue
        read = os.read(reading, CHUNK_BYTES)
        if not read:
            break
        if len(read) < CHUNK_BYTES // 2:
            time.sleep(_GATHER_S)
        whole, end, tail = read.rpartition(b"\n")
        if end:
            yield rest + whole + end
            rest = tail
        else:
            rest += read
    if rest:
        yield rest


def _remarks(text: bytes) -> list[bytes]:
    """Lines that are not accesses but messages of valgrind."""
    if b"==" not in text:
        return []
    return [line for line in text.splitlines() if line.startswith(b"==")]


def _levels(model: _core.CacheModel, counts: _core.CacheCounts) -> list[ProgramLevel]:
    return [
        ProgramLevel(level=name, kind="all", accesses=one.hits + one.misses, misses=one.misses)
        for name, one in zip(model.level_names, counts.levels, strict=True)
    ]
