"""What a part of the measurement found, and the table of all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.rounds import table


@dataclass(frozen=True)
class Finding:
    """One line of the table."""

    what: str
    found: str
    requested: str = ""
    met: bool | None = None
    """None: nothing was asked."""

    @property
    def verdict(self) -> str:
        """Yes or no, where something was asked."""
        return "" if self.met is None else "yes" if self.met else "NO"


@dataclass
class Part:
    """One part: what it found, or why it found nothing."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    error: str | None = None
    seconds: float = 0.0


def document(machine: dict[str, Any], parts: Sequence[Part]) -> dict[str, Any]:
    """Everything, for JSON."""
    return {"machine": machine, "parts": [asdict(part) for part in parts]}


def markdown(machine: dict[str, Any], parts: Sequence[Part]) -> str:
    """The page of results: the machine, one table, and what failed."""
    header = ["part", "what", "found", "requested", "met"]
    lines = [
        [part.name, one.what, one.found, one.requested, one.verdict]
        for part in parts
        for one in part.findings
    ]
    facts = [f"- {name}: {value}" for name, value in machine.items() if value is not None]
    failed = [f"- {part.name}: {part.error}" for part in parts if part.error]
    took = ", ".join(f"{part.name} {part.seconds:.0f} s" for part in parts)
    return "\n".join(
        [
            f"# {machine.get('gpu', 'GPU')}",
            "",
            "Made by `benchmarks/gpu/run.sh`; what the parts do stands in [README](README.md).",
            "",
            *facts,
            "",
            table(header, [list(map(_cell, row)) for row in lines]),
            "",
            *(["What found nothing, and why:", "", *failed, ""] if failed else []),
            f"Took: {took}.",
            "",
        ]
    )


def file_name(gpu: str) -> str:
    """Of the page, such as `nvidia-h100-80gb-hbm3`."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-") or "gpu"


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")
