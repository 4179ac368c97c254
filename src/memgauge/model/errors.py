"""Typed errors. Each message is one line: what failed, on which object, why, and the next step."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line tool, chosen once, in `main`."""

    DONE = 0
    FAILED = 1
    CANNOT_BE_MET = 2
    VALIDATION_FAILED = 3
    SLOWER = 4
    """`compare --fail-if-slower` or `trend --fail-if-slower` found a slower figure."""
    NOT_VERIFIED = 5
    """`counters verify` did not verify every event."""
    PROFILE_FAILED = 125
    """`profile` failed before the command was started, or `simulate` failed;"""
    NOT_EXECUTABLE = 126
    """the command may not be executed;"""
    NOT_FOUND = 127
    """the command was not found. These three are as in timeout(1) and env(1)."""
    INTERRUPTED = 130


class MemgaugeError(Exception):
    """Something failed; base of all errors memgauge raises on purpose."""

    exit_code = ExitCode.FAILED


def reason_of(error: BaseException) -> str:
    """One line on why something failed, for any exception."""
    if isinstance(error, MemgaugeError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}"
    what = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {what}' if what else ''}; please report this to memgauge"


class RequestError(MemgaugeError):
    """The request cannot be met: bad input or a missing resource."""

    exit_code = ExitCode.CANNOT_BE_MET


class NotPossibleHere(RequestError):
    """This machine, or the requested memory, lacks something that the experiment requires."""


class DoesNotFit(RequestError):
    """The usable memory is too small for the request; a survey continues without it."""


class OutOfTime(RequestError):
    """A call took longer than the time that there was for it, and was ended."""


class CounterRefused(RequestError):
    """A counter exists but may not be opened now: a privilege, daemon or descriptor is missing."""

    error_number: int | None = None
    """The errno if the kernel refused,"""
    event_index: int | None = None
    """and the index of the refused event or file among those opened together."""


class UnknownEvent(RequestError):
    """No back end on this machine knows the event; the message names the nearest known ones."""


class SystemFailure(MemgaugeError):
    """The operating system refused something that should have worked, such as a full disk."""


class RunFileError(MemgaugeError):
    """A run cannot be read: not a run, corrupt from the first record on, or of a newer version."""

    exit_code = ExitCode.CANNOT_BE_MET


class ValidationFailed(MemgaugeError):
    """The arrays do not contain what the kernels must have written: possible memory corruption."""

    exit_code = ExitCode.VALIDATION_FAILED


class ProfileFailed(MemgaugeError):
    """Profiling failed before the command was started."""

    exit_code = ExitCode.PROFILE_FAILED


class SimulationFailed(MemgaugeError):
    """Simulating a program failed, regardless of what the program itself did."""

    exit_code = ExitCode.PROFILE_FAILED


class CommandNotExecutable(MemgaugeError):
    """The command to profile or simulate may not be executed."""

    exit_code = ExitCode.NOT_EXECUTABLE


class CommandNotFound(MemgaugeError):
    """There is no command of that name."""

    exit_code = ExitCode.NOT_FOUND
