"""A run of well-formed records with absurd values: refused, or analysed and shown without a crash.

Types are kept and values are changed, so that most mutants pass the reader and reach the analysis.
"""

import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.analysis import runs
from tests.unit.model import build

from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.model.errors import RunFileError
from memgauge.model.run import Run
from memgauge.model.storage.codec import encode
from memgauge.model.storage.run_reader import read_stream
from memgauge.model.text import plain
from memgauge.reports.export.formats import export_csv, export_parquet
from memgauge.reports.terminal.report import render

MUTANTS = int(os.environ.get("MEMGAUGE_FUZZ_MUTANTS", "150"))
SHARDS = 4
LARGEST = (1 << 63) - 1
INTEGERS = [0, 1, 2, 7, 4096, 10**9, 10**15, LARGEST - 1, LARGEST, -1, -LARGEST]
FLOATS = [0.0, 1e-308, 1e-9, 0.5, 1.0, 1e9, 1e300, 1.7e308, -1.0, -1e308]
STRINGS = [
    "", "stream", "latency", "workingset", "nosuch", "0-1", "-", "node:9", "NaN", "1e999", "=1+1",
    "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "<script>alert(1)</script>", "x" * 5000, "\0",
]  # fmt: skip
SMALL = [encode(record) for record in build.records(3)]
SURVEY = [encode(record) for record in runs.records(rounds=2)]

Place = tuple[Any, Any]


def leaves(node: Any) -> Iterator[Place]:
    """Containers and keys of all values that hold no others."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, dict | list):
            yield from leaves(value)
        elif key != "kind":
            yield node, key


def other(value: object, dice: random.Random) -> object:
    if value is None or dice.random() < 0.03:
        return dice.choice([None, *INTEGERS, *FLOATS, *STRINGS])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return dice.choice([*INTEGERS, value + 1, value * 1000])
    return dice.choice(FLOATS if isinstance(value, float) else STRINGS)


def mutant(seed: int) -> bytes:
    dice = random.Random(seed)
    records = [json.loads(line) for line in (SMALL if seed % 9 else SURVEY)]
    places = list(leaves(records))
    for node, key in dice.sample(places, dice.choice([1, 2, 4])):
        node[key] = other(node[key], dice)
    if dice.random() < 0.3:
        del records[dice.randrange(len(records)) :]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def use(run: Run) -> None:
    """Everything a user can do with a run but draw it."""
    shown = render(analyse_run(run), width=80, color=False)
    assert all(plain(line) == line for line in shown.splitlines())
    msgspec.json.encode(json_document(run))
    export_csv(run)
    export_parquet(run)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_absurd_values_are_refused_or_shown(shard: int) -> None:
    used = 0
    for seed in range(shard, MUTANTS, SHARDS):
        try:
            run = read_stream(io.BytesIO(mutant(seed)), Path("run"))
        except RunFileError:
            continue
        used += 1
        try:
            use(run)
        except Exception as error:  # noqa: BLE001 - any is a failure, told with its seed
            pytest.fail(f"mutant {seed} cannot be used: {error!r}")
    assert used > MUTANTS / SHARDS / 4
