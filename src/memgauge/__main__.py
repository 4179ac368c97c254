"""Entry point: one place where errors become exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from memgauge.commands.root import root
from memgauge.model.errors import ExitCode, MemgaugeError
from memgauge.model.termination import Terminated, unwinding
from memgauge.model.text import plain

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line tool; returns its exit code."""
    try:
        with unwinding():
            code = root.main(
                args=list(arguments) if arguments is not None else None,
                prog_name="memgauge",
                standalone_mode=False,
            )
    except (KeyboardInterrupt, click.exceptions.Abort) as error:
        return _interrupted(error)
    except click.ClickException as error:
        return _fail(_usage(error), ExitCode.CANNOT_BE_MET)
    except (BrokenPipeError, SystemExit):
        # The reader of a pipe left (click makes of that a SystemExit, and of nothing else here).
        # Nothing is wrong, and nothing more can be said on stdout.
        _leave_stdout()
        return ExitCode.DONE
    except MemgaugeError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        # Files that memgauge opens have their own errors, with names; what it prints has none.
        if error.errno not in _FULL or error.filename is not None:
            raise
        _leave_stdout()
        return _fail(
            f"standard output: cannot be written: {error.strerror}; free space or write elsewhere",
            ExitCode.FAILED,
        )
    return code if isinstance(code, int) else ExitCode.DONE


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


def _usage(error: click.ClickException) -> str:
    """Click's message as one line that ends with the next step."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "memgauge"
    return f"{message[:1].lower()}{message[1:]}; see {command} --help"


if __name__ == "__main__":
    sys.exit(main())
