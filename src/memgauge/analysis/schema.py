"""The JSON Schemas of the documents that `--json` prints."""

from typing import Any

from memgauge.analysis.cluster.document import ClusterDocument
from memgauge.analysis.comparison.document import COMPARISON_VERSION, ComparisonDocument
from memgauge.analysis.counters.events_document import COUNTERS_VERSION, CountersDocument
from memgauge.analysis.ranks.document import RanksDocument
from memgauge.analysis.report.document import DOCUMENT_VERSION, Document
from memgauge.analysis.simulated_program import SIMULATION_VERSION, SimulationDocument
from memgauge.analysis.trend.document import TREND_VERSION, TrendDocument
from memgauge.model.storage.cluster import CLUSTER_VERSION
from memgauge.model.storage.profile_job import JOB_VERSION
from memgauge.model.storage.schema import schema_of


def document_schema() -> dict[str, Any]:
    """Of the figures of a run; draft 2020-12."""
    return schema_of(Document, f"document:{DOCUMENT_VERSION}", "The figures of a memgauge run")


def comparison_schema() -> dict[str, Any]:
    """Of what `compare --json` prints; draft 2020-12."""
    name = f"comparison:{COMPARISON_VERSION}"
    return schema_of(ComparisonDocument, name, "Sources compared by memgauge")


def counters_schema() -> dict[str, Any]:
    """Of what `counters --json` and `counters explain --json` print; draft 2020-12."""
    name = f"counters:{COUNTERS_VERSION}"
    return schema_of(CountersDocument, name, "What memgauge can count on a machine")


def cluster_schema() -> dict[str, Any]:
    """Of what `cluster --json` and `report --format json` of a combined run print."""
    return schema_of(ClusterDocument, f"cluster:{CLUSTER_VERSION}", "Nodes measured by memgauge")


def ranks_schema() -> dict[str, Any]:
    """Of what `report --format json` of a job of profiled ranks prints."""
    return schema_of(RanksDocument, f"ranks:{JOB_VERSION}", "Ranks profiled by memgauge")


def simulation_schema() -> dict[str, Any]:
    """Of what `simulate --json` prints; draft 2020-12."""
    name = f"simulation:{SIMULATION_VERSION}"
    return schema_of(SimulationDocument, name, "A program on caches simulated by memgauge")


def trend_schema() -> dict[str, Any]:
    """Of what `trend --json` prints; draft 2020-12."""
    return schema_of(TrendDocument, f"trend:{TREND_VERSION}", "Runs over time, by memgauge")
