"""Simulated figures as a tidy table."""

from __future__ import annotations

import csv
import io
import json

from tests.unit.analysis.traffic import runs as made

from memgauge.reports.export.formats import export_csv, export_json


def test_each_machine_of_each_point_has_a_row() -> None:
    points = [made.gemm_point(size, threads=2) for size in (64, 128)]
    machines = [made.machine("this"), made.machine("other")]
    predictions = [made.gemm_in(p, 5 << 20, one.name) for p in points for one in machines]
    run = made.run(points, machines=machines, predictions=predictions)
    rows = list(csv.DictReader(io.StringIO(export_csv(run, "simulated").decode())))
    assert [(row["requested.size"], row["machine"]) for row in rows] == [
        *(("64", "this"), ("64", "other")),
        *(("128", "this"), ("128", "other")),
    ]
    for row in rows:
        parts = ("load", "allocate", "software_prefetch", "hardware_prefetch")
        assert int(row["read_bytes"]) == sum(int(row[f"{part}_read_bytes"]) for part in parts)
        assert int(row["read_bytes"]) == 2 * 3 * 8 * int(row["requested.size"]) ** 2
    assert len(json.loads(export_json(run, "simulated"))) == 4
    assert json.loads(export_json(run, "samples")) == []
