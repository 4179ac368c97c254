"""The document of `memgauge counters --json`."""

import json
from pathlib import Path

import jsonschema
import msgspec
from tests.counters_trees.machines import MACHINES

from memgauge.analysis.counters.events_document import COUNTERS_VERSION, counters_document
from memgauge.analysis.schema import counters_schema
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.model.counting.events import BackEndState, EventVerdict
from memgauge.model.storage.schema import schema_text

PUBLISHED = Path(__file__).parents[4] / "docs" / "schema" / f"counters-{COUNTERS_VERSION}.json"

VERDICT = EventVerdict(
    event="perf:uncore_imc/cas_count_read/",
    verdict="mis-scaled",
    evidence="twice the bytes of eight passes",
    ratio=2.0,
    factor=2.0,
    machine="m",
    kernel="6.12",
    made_at="2026-01-01T00:00:00Z",
)


def test_the_document_obeys_its_schema_and_sets_verdicts_beside_events(tmp_path: Path) -> None:
    back_end = PerfBackEnd(MACHINES["ice_lake"](tmp_path).host)
    state = BackEndState(name="perf", summary="", state="ready", events=back_end.events())
    document = counters_document([state], {VERDICT.event: VERDICT}, tree="/tree")
    made = json.loads(msgspec.json.encode(document))
    jsonschema.Draft202012Validator.check_schema(counters_schema())
    jsonschema.Draft202012Validator(counters_schema()).validate(made)
    verdicts = [one["verdict"] for one in made["back_ends"][0]["events"]]
    assert [one and one["factor"] for one in verdicts[:2]] == [2.0, None]


def test_the_published_schema_is_the_one_in_force() -> None:
    assert PUBLISHED.read_text() == schema_text(counters_schema()), (
        f"publish it: memgauge schema --of counters > docs/schema/{PUBLISHED.name}"
    )


def test_a_verdict_on_another_gpu_stands_beside_no_event(tmp_path: Path) -> None:
    back_end = PerfBackEnd(MACHINES["ice_lake"](tmp_path).host)
    (event, *_) = back_end.events()
    state = BackEndState(name="perf", summary="", state="ready", events=[event])
    for instance, known in ((event.instances[0], True), ("GPU 1 0000:3b:00.0", False)):
        verdict = msgspec.structs.replace(VERDICT, event=event.name, instance=instance)
        (listed,) = counters_document([state], {event.name: verdict}, tree=None).back_ends[0].events
        assert (listed.verdict is not None) == known
