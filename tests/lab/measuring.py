"""Short runs of memgauge in the guest, and what came of them as plain data."""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from memgauge.__main__ import main
from memgauge.experiments.registry import load
from memgauge.measuring import measure
from memgauge.model.errors import MemgaugeError
from memgauge.model.parameters import RunOptions, build

Seen = dict[str, Any]

NOBODY = 65_534
DISK = "/var/tmp"  # noqa: S108 - of a guest that is thrown away
"""A file system without DAX: the guest's root."""

SMALL: dict[str, dict[str, Any]] = {
    "stream": {"kernel": "copy", "threads": "1", "array_bytes": "4MiB"},
    "stride": {"access": "64", "stride": "64", "footprint": "8MiB"},
}


def measured(
    experiment: str = "stream",
    *,
    text: bool = False,
    seconds: float = 0.5,
    visits: int = 1,
    **options: Any,
) -> Seen:
    """What a short run recorded, with `text` also its summary; or the error that it ended with.

    With `text` it gets more time until every point had so many visits: a busy host emulates slowly.
    """
    chosen = load(experiment)
    try:
        parameters = build(chosen.parameters, **(SMALL.get(experiment, {}) | options))
        for longer in (1, 4, 16):
            output = tempfile.mkdtemp(dir=DISK) + "/run"
            run_options = RunOptions(budget_s=longer * seconds, output=output)
            result = measure([(chosen, parameters)], run_options, name=experiment)
            had = [len(result.run.samples_of(point)) for point in result.run.points]
            if not text or min(had, default=0) >= visits:
                break
    except MemgaugeError as error:
        return {"error": str(error), "code": int(error.exit_code)}
    found: Seen = {
        "actual": {one.point: one.actual for one in result.run.points.values()},
        "unsound": [one.subject for one in result.failed_validations],
        "warnings": [one.message for one in result.run.warnings],
    }
    return found | ({"text": result.text()} if text else {})


def said(*arguments: str) -> Seen:
    """Exit code and output of the command line."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return {"code": int(code), "out": out.getvalue(), "err": err.getvalue()}


def seen(look: Callable[[], Seen]) -> Seen:
    """What a look sees, and the seconds it took; where it fails, where."""
    begin = time.monotonic()
    try:
        found = look()
    except Exception:  # noqa: BLE001 - the test shows it
        found = {"broke": traceback.format_exc()}
    return found | {"seconds": round(time.monotonic() - begin, 1)}


def as_nobody(look: Callable[[], Seen]) -> Seen:
    """What a process without privileges sees."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            with os.fdopen(writer, "w", encoding="utf-8") as pipe:
                json.dump(seen(look), pipe)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        found: Seen = json.load(pipe)
    os.waitpid(child, 0)
    return found
