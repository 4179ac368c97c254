"""Runs in the guest: what memgauge makes of each kind of memory, one look after the other.

    python -m tests.lab.tiers LOOK,...

Leaves one JSON object: for each look what it saw, and the seconds it took. Nothing is judged here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.lab import competing, files, nodes, wrong_node
from tests.lab.measuring import Seen, seen

RESULT = "/lab/tiers.json"

LOOKS: dict[str, Callable[[], Seen]] = {
    look.__name__: look
    for look in (
        nodes.ordinary,
        nodes.interleaved,
        nodes.huge_pages,
        nodes.moved,
        wrong_node.wrong_node,
        files.not_dax,
        files.permissions,
        files.ext4,
        files.xfs,
        files.device,
        files.keep_pool,
        files.kept_pool,
        nodes.kmem,
        nodes.cxl,
        competing.competition,
        competing.matrices,
        competing.weights,
        competing.presets,
    )
}


def run(looks: Sequence[str]) -> None:
    """Look, one after the other."""
    found = {name: seen(LOOKS[name]) for name in looks}
    Path(RESULT).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1].split(","))
