"""What an errno of perf_event_open means, on which event, and what would change it.

Source: perf_event_open(2), ERRORS; kernel/events/core.c.
"""

from __future__ import annotations

import errno
import os
import resource

from memgauge.counters.perf.access import KERNEL, MACHINE, OWN, RIGHTS, Access
from memgauge.counters.perf.places import Place
from memgauge.model.errors import CounterRefused

GROUP_ERRORS = frozenset({errno.EINVAL, errno.ENOSPC, errno.EOPNOTSUPP, errno.ENODEV, errno.EBUSY})
"""After which smaller groups are worth a try."""
MOVED = frozenset({errno.EINVAL, errno.ENODEV})
"""What a PMU answers on a CPU that it has left."""
_SECCOMP = (
    "a seccomp filter, as containers have, refuses perf_event_open; allow the call (docker: "
    "--security-opt seccomp=unconfined, or --cap-add PERFMON where the profile knows it)"
)
_ENOUGH = 64
"""Descriptors a program needs beside its counters."""


def refused(event: str, place: Place, number: int, access: Access, needed: int) -> CounterRefused:
    """The error for an event that the kernel did not open.

    Args:
        event: Full name of the event.
        place: Where it was to be opened.
        number: The errno of perf_event_open.
        access: Rights of this process, which explain EACCES and EPERM.
        needed: File descriptors that all events together need, which explain EMFILE and ENFILE.
    """
    made = CounterRefused(f"{event}: {_why(place, number, access, needed)}")
    made.error_number = number
    return made


def _why(place: Place, number: int, access: Access, needed: int) -> str:
    where = f"cannot be opened on {place.instance}"
    if number in {errno.EMFILE, errno.ENFILE}:
        return f"{where}: {_descriptors(number, needed)}"
    if number in {errno.EACCES, errno.EPERM}:
        return f"{where}: {_rights(place, number, access)}"
    said = {
        errno.ENOENT: "the kernel knows no such event of this PMU; the PMU may have gone, or the "
        "processor lacks the event: 'memgauge counters' lists what is here",
        errno.ENODEV: "the unit is not there for this CPU: see its cpumask",
        errno.EINVAL: "the kernel does not take this encoding there; compare it with the PMU's "
        "format ('memgauge counters explain' shows it)",
        errno.EOPNOTSUPP: "the PMU does not count this way; count the machine, not a process",
        errno.ESRCH: "the process or thread has ended",
        errno.EBUSY: "another user holds the counter for itself; end it",
        errno.E2BIG: "this kernel is too old for field config3; use Linux 6.3 or later",
        errno.ENOSYS: "this kernel was built without perf events",
    }.get(number)
    return f"{where}: {said or os.strerror(number)} ({errno.errorcode.get(number, number)})"


def _descriptors(number: int, needed: int) -> str:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if number == errno.ENFILE:
        return f"the machine has no descriptor left, and {needed} are needed; raise fs.file-max"
    enough = needed + _ENOUGH
    more = "" if hard == resource.RLIM_INFINITY or enough <= hard else (
        f" (its hard limit is {hard}: raise that as root)"
    )  # fmt: skip
    return (
        f"{needed} descriptors are needed and this process may have {soft}; "
        f"run 'ulimit -n {enough}' before{more}, or ask for fewer events"
    )


def _rights(place: Place, number: int, access: Access) -> str:
    level = MACHINE if place.pid == -1 else OWN if place.excludable else KERNEL
    allowed = access.entitled or (access.paranoid is not None and access.paranoid <= level)
    if number == errno.EPERM and allowed:
        return f"{_SECCOMP} (EPERM)"
    name = errno.errorcode[number]
    if allowed:
        return (
            f"the kernel refuses it ({name}) although perf_event_paranoid is {access.paranoid}; "
            f"the process may be another user's, or a security module forbids it: {RIGHTS}"
        )
    return f"{access.reason()} ({name}); {access.remedy(level)}"
