"""Every target fuzzed for a while: python -m tests.fuzz.campaign --minutes 1 --jobs 2 [NAME ...].

Targets of the readers in Python run under Atheris, those of the core under libFuzzer with the
address and undefined-behaviour sanitizers. One that finds something goes on as long as it finds
something else. Exit code 1: something was found, or a target did not run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import msgspec
from tests.fuzz import corpora, targets
from tests.fuzz.planted import MEMORY

NATIVE = corpora.ROOT / "build/fuzzers/core/fuzz"
"""The programs that the preset `fuzz` of CMakePresets.json builds."""
HANG_S = 120
"""Of wall clock, for what never ends; the targets themselves limit processor time to less."""
MOST_MIB = 2048
MOST_FINDINGS = 5
"""Of one target."""
OPTIONS = (
    f"-timeout={HANG_S}",
    f"-report_slow_units={HANG_S}",
    f"-rss_limit_mb={MOST_MIB}",
    "-print_final_stats=1",
    "-verbosity=1",
    "-use_value_profile=1",
)

_COVERED = re.compile(r"^#\d+.*? cov: (\d+) ft: (\d+) corp: (\d+)/", re.MULTILINE)
_EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
_WROTE = re.compile(r"Test unit written to (\S+)")
_WHAT = re.compile(
    r"^(?:\w*(?:Error|Exception|TooLong)\b.*|SUMMARY: .*|==\d+== ERROR: libFuzzer: .*)$",
    re.MULTILINE,
)


class Finding(msgspec.Struct, frozen=True):
    """What went wrong, and on which input."""

    what: str
    path: str


class Row(msgspec.Struct, kw_only=True):
    """What came of one target."""

    name: str
    executed: int = 0
    seconds: float = 0.0
    edges: int = 0
    features: int = 0
    corpus: int = 0
    findings: list[Finding] = []
    failure: str | None = None
    """Why it did not run."""


def main() -> int:
    """Fuzz, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each target")
    parser.add_argument("--jobs", type=int, default=1, help="targets at once")
    parser.add_argument("--seed", type=int, default=0, help="to repeat; 0: another each time")
    parser.add_argument("names", nargs="*", help="targets; all unless named")
    requested = parser.parse_args()
    commands = dict(_commands())
    unknown = set(requested.names) - set(commands)
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}; choose from {', '.join(commands)}")
    chosen = requested.names or list(commands)
    with ThreadPoolExecutor(requested.jobs) as pool:
        seed = f"-seed={requested.seed}"
        rows = list(
            pool.map(
                lambda name: fuzzed(name, [*commands[name], seed], 60 * requested.minutes), chosen
            )
        )
    sys.stdout.write("".join(f"{line}\n" for line in table(rows)))
    return 1 if any(row.findings or row.failure for row in rows) else 0


def _commands() -> Iterator[tuple[str, list[str]]]:
    """Of each target the command that fuzzes it."""
    if find_spec("atheris") is None:
        sys.stderr.write("Atheris is not installed: the core's readers alone are fuzzed\n")
    else:
        for name in targets.NAMES:
            yield name, [sys.executable, "-m", "tests.fuzz.engine", name]
    for path in sorted(NATIVE.glob("fuzz_*")):
        name = path.name.removeprefix("fuzz_")
        if path.is_file():
            yield name, [str(path), str(_made(corpora.GROWN / name)), *_kept(name)]


def _kept(name: str) -> list[str]:
    directory = corpora.KEPT / name
    return [str(directory)] if directory.is_dir() else []


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def fuzzed(name: str, command: Sequence[str], seconds: float) -> Row:
    """One target, begun again after a finding, unless it found the same again."""
    row = Row(name=name)
    end_s = time.monotonic() + seconds
    while len(row.findings) < MOST_FINDINGS and (left_s := end_s - time.monotonic()) > 1:
        found = _once(row, command, left_s)
        if found is None or found.what in {known.what for known in row.findings}:
            break
        row.findings.append(found)
    return row


def _once(row: Row, command: Sequence[str], seconds: float) -> Finding | None:
    """Until the time is over or something is found."""
    prefix = f"{_made(corpora.FINDINGS)}/{row.name}-"
    words = [*command, f"-max_total_time={max(int(seconds), 1)}", *OPTIONS]
    begin_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memgauge-fuzz-", dir=MEMORY) as scratch:
        done = subprocess.run(
            [*words, f"-artifact_prefix={prefix}"],
            cwd=corpora.ROOT,
            # Without a seed of hashes, a seed of the engine would not repeat anything.
            env=os.environ | {"PYTHONHASHSEED": "0", "TMPDIR": scratch},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    row.seconds += time.monotonic() - begin_s
    log = _made(corpora.BUILD / "logs") / f"{row.name}.log"
    log.write_text(done.stdout, encoding="utf-8")
    _count(row, done.stdout)
    wrote = _WROTE.search(done.stdout)
    if wrote is None:
        row.failure = None if done.returncode == 0 else f"ended with {done.returncode}; see {log}"
        return None
    what = _WHAT.findall(done.stdout)
    return Finding(what=what[0][:100] if what else "unknown; see its log", path=wrote[1])


def _count(row: Row, output: str) -> None:
    executed = _EXECUTED.search(output)
    row.executed += int(executed[1]) if executed else 0
    for edges, features, corpus in _COVERED.findall(output)[-1:]:
        row.edges, row.features, row.corpus = int(edges), int(features), int(corpus)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """What came of all targets, and every finding with its input."""
    heads = ("target", "executions", "a second", "edges", "features", "corpus", "findings")
    yield f"{heads[0]:14}" + "".join(f"{head:>12}" for head in heads[1:])
    for row in rows:
        rate = row.executed / row.seconds if row.seconds else 0.0
        counts = (row.executed, round(rate), row.edges, row.features, row.corpus)
        cells = "".join(f"{count:>12}" for count in (*counts, len(row.findings)))
        yield f"{row.name:14}{cells}"
    for row in rows:
        if row.failure:
            yield f"{row.name}: did not run: {row.failure}"
        for finding in row.findings:
            yield f"{row.name}: {finding.what}: {finding.path}"


if __name__ == "__main__":
    sys.exit(main())
