"""Where the inputs of a target are: seeds that code makes, findings in the tree, what has grown."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.targets import Target

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests/fuzz/corpus"
"""Findings that were mended, by target; small, each named after what it found."""
BUILD = ROOT / "build/fuzz"
GROWN = BUILD / "corpus"
FINDINGS = BUILD / "findings"


def kept(name: str) -> list[Path]:
    """The findings of a target, by name."""
    return sorted(path for path in (KEPT / name).glob("*") if path.is_file())


def write_seeds(target: Target, name: str) -> Path:
    """The seeds of a target as files; the directory."""
    directory = BUILD / "seeds" / name
    directory.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds():
        (directory / sha256(seed).hexdigest()[:16]).write_bytes(seed)
    return directory


def inputs(target: Target, name: str) -> Iterator[tuple[str, bytes]]:
    """All that is replayed, each with what to call it by."""
    for number, seed in enumerate(target.seeds()):
        yield f"seed {number}", seed
    for path in kept(name):
        yield path.name, path.read_bytes()
