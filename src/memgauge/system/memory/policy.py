"""Memory policies of programs that are started: where the kernel puts their pages.

A policy that a thread has set (set_mempolicy(2)) is inherited by the processes that it forks and
kept when they execute a program. It does not bind a program that sets a policy of its own.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import msgspec

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import SystemFailure

Mode = Literal["preferred", "bind", "interleave", "weighted interleave"]

_MODES: dict[Mode, int] = {
    "preferred": 1,
    "bind": 2,
    "interleave": 3,
    "weighted interleave": 6,  # Linux 6.9
}
"""MPOL_... of linux/mempolicy.h."""
_CALLS = {"x86_64": (238, 239), "aarch64": (237, 236), "ppc64le": (261, 260)}
"""Numbers of set_mempolicy and get_mempolicy, for which the C library has no functions."""
_WORD_BITS = 64
_MASK_WORDS = 16
"""For 1024 nodes, the most that Linux is built for."""
_MASK_BITS = _MASK_WORDS * _WORD_BITS + 1
"""The kernel reads one bit less than it is given."""


class MemoryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Where the pages of a program are put."""

    mode: Mode
    """bind: on no other nodes. preferred: on others only when there is no room."""
    nodes: list[int]


class _State(msgspec.Struct, frozen=True):
    """The policy of a thread as the kernel reports and takes it, with the flags of its mode."""

    mode: int
    mask: tuple[int, ...]


def refusal() -> str | None:
    """Why this process may not set a memory policy; None: it may."""
    try:
        _set(_current())
    except OSError as error:
        return _reason(error)
    return None


@contextmanager
def inherited(policy: MemoryPolicy | None) -> Iterator[None]:
    """Give a policy to programs that this thread starts meanwhile.

    Args:
        policy: None leaves the one that this thread has.

    Raises:
        SystemFailure: the kernel or the container refuses the policy.
    """
    if policy is None:
        yield
        return
    try:
        kept = _current()
        _set(_State(_MODES[policy.mode], _mask(policy.nodes)))
    except OSError as error:
        nodes = format_cpu_list(policy.nodes)
        raise SystemFailure(
            f"memory policy {policy.mode} on nodes {nodes} cannot be set: {_reason(error)}"
        ) from error
    try:
        yield
    finally:
        _set(kept)


def _reason(error: OSError) -> str:
    if error.errno in {errno.EPERM, errno.ENOSYS}:
        return (
            "memory policies are not permitted here; in a container, allow them "
            "(--cap-add SYS_NICE)"
        )
    return f"set_mempolicy(2): {error.strerror}"


def _mask(nodes: Sequence[int]) -> tuple[int, ...]:
    words = [0] * _MASK_WORDS
    for node in nodes:
        words[node // _WORD_BITS] |= 1 << node % _WORD_BITS
    return tuple(words)


def _current() -> _State:
    mode = ctypes.c_int()
    words = (ctypes.c_ulong * _MASK_WORDS)()
    _, get_number = _numbers()
    _call(get_number, ctypes.byref(mode), words, ctypes.c_ulong(_MASK_BITS), None, 0)
    return _State(mode.value, tuple(words))


def _set(state: _State) -> None:
    set_number, _ = _numbers()
    words = (ctypes.c_ulong * _MASK_WORDS)(*state.mask)
    # The default policy takes no nodes.
    mask, bits = (words, _MASK_BITS) if any(state.mask) else (None, 0)
    _call(set_number, ctypes.c_long(state.mode), mask, ctypes.c_ulong(bits))


def _numbers() -> tuple[int, int]:
    numbers = _CALLS.get(os.uname().machine)
    if numbers is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return numbers


def _call(number: int, *arguments: object) -> None:
    if ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments) != 0:
        failed = ctypes.get_errno()
        raise OSError(failed, os.strerror(failed))
