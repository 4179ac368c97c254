"""The one place where errors become exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from memgauge.commands.root import root
from memgauge.commands.shared.streams import stdout_is_closed
from memgauge.model.errors import ExitCode, MemgaugeError
from memgauge.model.termination import Terminated
from memgauge.model.text import plain

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line tool; returns its exit code. None: the process's own arguments."""
    try:
        code = root.main(
            args=list(arguments) if arguments is not None else None,
            prog_name="memgauge",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except (KeyboardInterrupt, click.exceptions.Abort) as error:
        return _interrupted(error)
    except click.ClickException as error:
        return _misused(error)
    except (BrokenPipeError, SystemExit):
        # The reader of a pipe left (click makes of that a SystemExit, and of nothing else here).
        # Nothing is wrong, and nothing more can be said on stdout.
        _leave_stdout()
        return ExitCode.DONE
    except (MemgaugeError, MemoryError) as error:
        return _fail(*_known(error))
    except OSError as error:
        # Files that memgauge opens have their own errors, with names; what it prints has none.
        if error.filename is not None or (remedy := _remedy(error)) is None:
            raise
        _leave_stdout()
        return _fail(
            f"standard output: cannot be written: {error.strerror}; {remedy}", ExitCode.FAILED
        )
    return code if isinstance(code, int) else ExitCode.DONE


def _known(error: MemgaugeError | MemoryError) -> tuple[str, int]:
    """What to print of an error, and its exit code."""
    if isinstance(error, MemgaugeError):
        return str(error), error.exit_code
    message = (
        "out of memory: this process may use no more; free memory, or raise its limits "
        "(ulimit -v, ulimit -d, the control group's)"
    )
    return message, ExitCode.FAILED


def _remedy(error: OSError) -> str | None:
    """What to do about an error of standard output; None where it is none of that."""
    if error.errno in _FULL:
        return "free space or write elsewhere"
    if error.errno == errno.EBADF and stdout_is_closed():
        return "it is closed: give it a file, or /dev/null where nothing is to be printed"
    if error.errno == errno.EAGAIN:
        return "its reader is too slow for a pipe that does not block: write to a file"
    return None


def _leave_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted(error: BaseException) -> int:
    """By Ctrl-C, or by a signal that was made to unwind as it does; click wraps either."""
    cause = error if isinstance(error, Terminated) else error.__cause__
    if isinstance(cause, Terminated):
        return _fail(f"ended by {cause}", cause.exit_code)
    return _fail("interrupted", ExitCode.INTERRUPTED)


def _fail(message: str, code: int) -> int:
    with suppress(OSError):  # after SIGHUP the terminal may be gone
        click.echo(f"memgauge: {plain(message)}", err=True)
    return code


def _misused(error: click.ClickException) -> int:
    """Of no arguments at all, help is what was asked for."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        return ExitCode.DONE
    return _fail(_usage(error), _usage_code(error))


def _usage_code(error: click.ClickException) -> int:
    """Of wrong options; of profile its own, since 2 may be its program's."""
    context = getattr(error, "ctx", None)
    is_profile = context is not None and context.info_name == "profile"
    return ExitCode.PROFILE_FAILED if is_profile else ExitCode.CANNOT_BE_MET


def _usage(error: click.ClickException) -> str:
    """Click's message as one line that ends with the next step."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "memgauge"
    return f"{message[:1].lower()}{message[1:]}; see {command} --help"
