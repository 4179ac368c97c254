"""Ranges of published figures by processor family, from a table of single figures.

    python -m benchmarks.published_ranges machine-figures.csv

prints `src/memgauge/references/data/machine_ranges.toml`. Only rows whose machine and output are
known (trust A and B) count. Latency is that of one dependent load, machines and guests apart.
Bandwidth is that of reads as a share of the theoretical peak, of machines without a hypervisor, by
tool, since tools differ by up to 0.2 of the peak on one machine; absolute figures of bandwidth are
left out, for channels and modules change them more than the family does.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

Row = dict[str, str]
TRUSTED = {"A", "B"}
LATENCY_TOOLS = {"sc-membench": "sc-membench", "Intel MLC": "Intel MLC", "Mess": "Mess"}
READ_TOOLS = {"sc-membench": "sc-membench", "lmbench bw_mem": "lmbench", "Intel MLC": "Intel MLC"}
READS = {"read", "mlc_read"}


def main() -> None:
    """Print the ranges."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", type=Path)
    print(ranges(parser.parse_args().table), end="")


def ranges(table: Path) -> str:
    """The text of the data file.

    Args:
        table: CSV of single figures, with the columns family, model, metric, value, unit,
            peak_GBps, virtual, tool, source, license and trust.
    """
    content = table.read_bytes()
    rows = [
        row
        for row in csv.DictReader(content.decode().splitlines())
        if row["trust"] in TRUSTED and row["family"]
    ]
    groups: dict[tuple[str, str, str, str], list[tuple[float, Row]]] = defaultdict(list)
    for row in rows:
        where = {"yes": "guest", "no": "machine"}.get(row["virtual"])
        tool = next((name for begin, name in LATENCY_TOOLS.items() if _is_by(row, begin)), None)
        if row["metric"] == "idle_latency" and row["unit"] == "ns" and where and tool:
            groups[row["family"], "latency_ns", where, ""].append((float(row["value"]), row))
        tool = next((name for begin, name in READ_TOOLS.items() if _is_by(row, begin)), None)
        if row["metric"] in READS and row["peak_GBps"] and where == "machine" and tool:
            share = float(row["value"]) / float(row["peak_GBps"])
            groups[row["family"], "read_peak_share", where, tool].append((share, row))
    written = [
        "# Written by benchmarks/published_ranges.py; do not edit.",
        f'table_sha256 = "{hashlib.sha256(content).hexdigest()}"',
    ]
    written += [
        part
        for (family, figure, where, tool), found in sorted(groups.items())
        for part in _group(family, figure, where, tool, found)
    ]
    return "\n".join(written) + "\n"


def _is_by(row: Row, tool: str) -> bool:
    return row["tool"].startswith(tool)


def _group(
    family: str, figure: str, where: str, tool: str, found: list[tuple[float, Row]]
) -> Iterable[str]:
    values = sorted(value for value, _ in found)
    digits = 1 if figure == "latency_ns" else 3
    tools = sorted({row["tool"].split(" (")[0] for _, row in found}) if not tool else [tool]
    sources = sorted({row["source"].split(" ")[0].rstrip(",") for _, row in found})
    licences = sorted({row["license"] for _, row in found if row["license"]})
    yield ""
    yield "[[ranges]]"
    yield f'family = "{family}"'
    yield f'figure = "{figure}"'
    yield f'where = "{where}"'
    yield f"low = {values[0]:.{digits}f}"
    yield f"high = {values[-1]:.{digits}f}"
    yield f"figures = {len(values)}"
    yield f"models = {len({row['model'] for _, row in found})}"
    yield f"tools = {_list(tools)}"
    yield f"sources = {_list(sources)}"
    yield f"licences = {_list(licences)}"


def _list(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


if __name__ == "__main__":
    main()
