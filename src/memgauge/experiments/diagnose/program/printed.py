"""What a program under diagnosis, or a command beside it, printed."""

from __future__ import annotations

import math
import re
import subprocess

from memgauge.model.errors import SystemFailure
from memgauge.model.text import plain, quoted

TAIL_CHARACTERS = 2000


def number_in(output: bytes, metric: re.Pattern[bytes] | None) -> float | None:
    """The first number that the pattern finds, or all of the output where there is no pattern.

    Args:
        output: What was printed.
        metric: With one group.

    Returns:
        None: it is no finite number above 0.
    """
    found = output if metric is None else match[1] if (match := metric.search(output)) else b""
    try:
        value = float(found)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def tail(output: bytes) -> str:
    """The end of an error message: what was printed last."""
    text = plain(output[-TAIL_CHARACTERS:].decode("utf-8", "replace").strip())
    return f"; it printed: {text}" if text else "; it printed nothing"


def prepare(command: str | None, group: int | None = None) -> None:
    """Run the command of `--prepare`, if there is one, to its end.

    Args:
        command: Of the shell.
        group: Process group that it belongs to; None: that of this process.

    Raises:
        SystemFailure: it failed.
    """
    if command is None:
        return
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        process_group=group,
    )
    if done.returncode:
        raise SystemFailure(
            f"--prepare {quoted(command)}: exit code {done.returncode}"
            f"{tail(done.stdout + done.stderr)}"
        )
