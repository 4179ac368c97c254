"""Typed errors. Each message is one line: what failed, on which object, why, and the next step."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line tool, chosen once, in `main`."""

    DONE = 0
    FAILED = 1
    CANNOT_BE_MET = 2
    VALIDATION_FAILED = 3
    SLOWER = 4
    """`compare --fail-if-slower` found a figure that is."""
    PROFILE_FAILED = 125
    """`profile` failed before the command was started, or `simulate` failed,"""
    NOT_EXECUTABLE = 126
    """the command may not be run,"""
    NOT_FOUND = 127
    """or there is none: as timeout(1) and env(1) have it."""
    INTERRUPTED = 130


class MemgaugeError(Exception):
    """Something failed; base of all errors memgauge raises on purpose."""

    exit_code = ExitCode.FAILED


def reason_of(error: BaseException) -> str:
    """One line that says why something failed, whatever was raised."""
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
    """This machine, or the memory that was named, lacks what an experiment needs by nature."""


class DoesNotFit(RequestError):
    """The memory that may be used is too small for what was asked; a survey goes on without it."""


class CounterRefused(RequestError):
    """A counter exists but may not be opened now: a privilege, daemon or descriptor is missing."""

    error_number: int | None = None
    """errno, where the kernel refused it,"""
    event_index: int | None = None
    """and which of the events or files that were to be opened together."""


class UnknownEvent(RequestError):
    """No back end here knows the event; the message names the nearest it knows."""


class SystemFailure(MemgaugeError):
    """The operating system refused something that should have worked, such as a full disk."""


class RunFileError(MemgaugeError):
    """A run cannot be read: not a run, corrupt from the first record on, or of a newer version."""

    exit_code = ExitCode.CANNOT_BE_MET


class ValidationFailed(MemgaugeError):
    """The arrays do not hold what the kernels must have left: possible memory corruption."""

    exit_code = ExitCode.VALIDATION_FAILED


class ProfileFailed(MemgaugeError):
    """Profiling failed before the command was started."""

    exit_code = ExitCode.PROFILE_FAILED


class SimulationFailed(MemgaugeError):
    """Simulating a program failed, whatever the program itself did."""

    exit_code = ExitCode.PROFILE_FAILED


class CommandNotExecutable(MemgaugeError):
    """The command to profile or simulate may not be run."""

    exit_code = ExitCode.NOT_EXECUTABLE


class CommandNotFound(MemgaugeError):
    """There is no command of that name."""

    exit_code = ExitCode.NOT_FOUND
