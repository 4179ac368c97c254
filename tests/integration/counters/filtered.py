"""Runs a command behind a seccomp filter that answers perf_event_open with an errno.

Source: seccomp(2), linux/filter.h, linux/audit.h. Arguments: the errno, then the command.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

CALLS = {"x86_64": 298, "aarch64": 241, "ppc64le": 319}
"""Number of perf_event_open."""
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050000, 0x7FFF0000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def refuse_perf_events(number: int) -> None:
    """For this process and all it starts."""
    steps = [
        (LOAD, 0, 0, 0),
        (EQUAL, 0, 1, CALLS[platform.machine()]),
        (RETURN, 0, 0, REFUSE | number),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = Program(len(steps), ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(
        PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the filter cannot be set")


if __name__ == "__main__":
    refuse_perf_events(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - the test names the command
