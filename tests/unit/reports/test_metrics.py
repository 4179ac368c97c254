"""Metrics of a watch, read back by Prometheus' own parsers."""

import json
import math
import re
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.watch.rows import NS, SLOTS, counters, row
from tests.unit.reports.terminal.test_watch import SLOW

from memgauge.analysis.watch.headroom import Headroom
from memgauge.analysis.watch.status import Status, Watcher
from memgauge.reports.metrics import GAUGES, PREFIX, TOTALS, exposition

openmetrics = pytest.importorskip("prometheus_client.openmetrics.parser")
classic = pytest.importorskip("prometheus_client.parser")


def samples(status: Status) -> dict[tuple[str, str], float]:
    made = exposition(status, "0.1", 1.0)
    found = {}
    for family in openmetrics.text_string_to_metric_families(made.openmetrics.decode()):
        assert family.documentation
        for one in family.samples:
            label = one.labels.get("rule") or one.labels.get("track") or ""
            found[one.name, label] = one.value
    names = {one.name for f in classic.text_string_to_metric_families(made.text.decode())
             for one in f.samples}  # fmt: skip
    assert {name for name, _ in found} == names
    return found


def test_metrics_have_base_units_and_baselines() -> None:
    found = samples(SLOW)
    latency = found["memgauge_watch_latency_seconds", ""]
    assert latency == pytest.approx(150e-9, rel=0.02)
    ratio = latency / found["memgauge_watch_latency_baseline_seconds", ""]
    assert ratio == pytest.approx(1.5, rel=0.02)
    assert found["memgauge_watch_own_cpu_seconds_total", ""] == pytest.approx(34 * 0.004)
    assert found["memgauge_watch_oom_kills_total", ""] == 0
    assert found["memgauge_watch_info", ""] == 1


def test_alerts_are_one_or_zero_for_rules_that_apply_here() -> None:
    found = samples(SLOW)
    alerts = {label: v for (name, label), v in found.items() if name == "memgauge_watch_alert"}
    assert alerts == {"latency": 1, "bandwidth": 1, "steal": 0, "oom-kill": 0}
    assert found["memgauge_watch_alerts_raised_total", "latency"] == 1


def test_traffic_is_a_share_of_peak_and_knee_where_both_were_measured() -> None:
    counted = Headroom(read_bytes_per_s=10e9, write_bytes_per_s=5e9, peak_bytes_per_s=30e9)
    found = samples(msgspec.structs.replace(SLOW, headroom=counted))
    assert found["memgauge_watch_peak_share_ratio", ""] == pytest.approx(0.5)
    assert ("memgauge_watch_knee_share_ratio", "") not in found
    counted = msgspec.structs.replace(counted, knee_bytes_per_s=25e9)
    found = samples(msgspec.structs.replace(SLOW, headroom=counted))
    assert found["memgauge_watch_knee_share_ratio", ""] == pytest.approx(0.6)


def test_what_is_not_known_has_no_sample() -> None:
    watcher = Watcher(counters(), cpus=2, learn_s=20)
    watcher.take(NS, NS, row(0))
    moment, _ = watcher.take(2 * NS, 2 * NS, [None] * len(SLOTS))
    found = samples(watcher.status(moment))
    names = {name for name, _ in found}
    assert not names & {"memgauge_watch_latency_seconds", "memgauge_watch_own_cpu_seconds_total"}
    assert not any(math.isnan(value) for value in found.values())
    assert "memgauge_watch_period_seconds" in names


PACKAGING = Path(__file__).parents[3] / "packaging" / "watch"


@pytest.mark.parametrize("name", ["grafana-dashboard.json", "alerts.yml"])
def test_dashboard_and_rules_ask_for_metrics_that_exist(name: str) -> None:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    gauges = [f"{PREFIX}_{which}_{unit}" for which, unit in GAUGES.values()]
    baselines = [f"{PREFIX}_{which}_baseline_{unit}" for which, unit in GAUGES.values()]
    totals = ["_".join(filter(None, (PREFIX, *one, "total"))) for one in TOTALS.values()]
    others = ["alert", "counted_bytes_per_second", "period_seconds"]
    known = {*gauges, *baselines, *totals, *(f"{PREFIX}_{other}" for other in others)}
    asked = set(re.findall(rf"{PREFIX}_[a-z_]+", text))
    assert asked
    assert asked - known == set()


def test_the_dashboard_has_panels_that_do_not_overlap() -> None:
    board = json.loads((PACKAGING / "grafana-dashboard.json").read_text(encoding="utf-8"))
    places = [panel["gridPos"] for panel in board["panels"]]
    cells = [
        (x, y)
        for at in places
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in board["panels"]}) == len(places)
