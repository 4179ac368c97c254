"""Fuzz one target of the readers in Python: python -m tests.fuzz.engine NAME [libFuzzer options].

Atheris (libFuzzer) guides it by the coverage of memgauge's own modules, the only ones that it
instruments. An input that takes more than `MOST_CPU_S` of processor time is a finding.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

import atheris
from tests.fuzz import corpora, json_lines
from tests.fuzz.targets import Target, load

MOST_CPU_S = 5.0
_STRUCTURED = 3
"""Of four mutants of JSON, as many are made by changing values."""


class TooLong(AssertionError):
    """An input took longer than any reader may."""


def timed(run: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The same, with a limit of processor time: the machine may be busy with something else."""

    def limited(data: bytes) -> None:
        begin_s = time.thread_time()
        run(data)
        taken_s = time.thread_time() - begin_s
        if taken_s > MOST_CPU_S:
            raise TooLong(f"{taken_s:.1f} s of processor time for {len(data)} bytes")

    return limited


def _mutator(data: bytes, most_bytes: int, seed: int) -> bytes:
    if seed % 4 < _STRUCTURED:
        made = json_lines.mutated(bytes(data), seed)
        if made is not None and len(made) <= most_bytes:
            return made
    mutated: bytes = atheris.Mutate(data, most_bytes)
    return mutated


class _Instrumented(SourceFileLoader):
    """Loads a module whose branches and comparisons the engine sees."""

    def get_code(self, fullname: str) -> CodeType | None:
        code = super().get_code(fullname)
        made: CodeType | None = None if code is None else atheris.patch_code(code, True)
        return made


class _Finder(MetaPathFinder):
    """Finds memgauge's modules as the other finders do, those of an editable install too."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "memgauge":
            return None
        found = (one.find_spec(fullname, path, target) for one in sys.meta_path if one is not self)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = _Instrumented(fullname, spec.origin)
        return spec


def _loaded(name: str) -> Target:
    """The target, with every module that its inputs need instrumented."""
    sys.meta_path.insert(0, _Finder())
    target = load(name)
    for _, data in corpora.inputs(target, name):
        target.run(data)
    return target


def main(arguments: list[str]) -> None:
    """Fuzz until libFuzzer's options say that it is enough, or something is found."""
    name, *options = arguments
    target = _loaded(name)
    seeds = corpora.write_seeds(target, name)
    grown = corpora.GROWN / name
    grown.mkdir(parents=True, exist_ok=True)
    words = [sys.argv[0], *options, str(grown), str(seeds)]
    further = {"custom_mutator": _mutator} if target.IS_JSON else {}
    atheris.Setup(words, timed(target.run), **further)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
