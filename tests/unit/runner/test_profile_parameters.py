"""What a profile can be asked for."""

from __future__ import annotations

import pytest

from memgauge.counters.components import USUAL
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build, texts
from memgauge.runner.profiling.parameters import ProfileParameters, parse_events


def test_text_forms_read_back() -> None:
    requested = build(
        ProfileParameters, rate="0.5Hz", components="gpu,memory", counters="perf:cycles", pid="12"
    )
    assert (requested.rate_hz, requested.pid) == (0.5, 12)
    again = {key: value for key, value in texts(requested).items() if value is not None}
    assert build(ProfileParameters, **again) == requested


def test_all_components_are_watched_unless_some_or_events_are_named() -> None:
    assert ProfileParameters().chosen_components == USUAL
    assert build(ProfileParameters, counters="perf:cycles").chosen_components == ()
    both = build(ProfileParameters, counters="perf:cycles", components="process")
    assert both.chosen_components == ("process",)


def test_a_comma_inside_of_perfs_slashes_belongs_to_its_event() -> None:
    text = "perf:uncore_imc/event=0x04,umask=0x03/,net:eth0/rx_bytes, perf:cycles,net:eth0/rx_bytes"
    assert parse_events(text, "--counters") == (
        "perf:uncore_imc/event=0x04,umask=0x03/",
        "net:eth0/rx_bytes",
        "perf:cycles",
    )
    with pytest.raises(RequestError, match="empty event"):
        parse_events("perf:cycles,", "--counters")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("rate", "0", "samples a second"),
        ("rate", "1001", "samples a second"),
        ("rate", "nan", "samples a second"),
        ("rate", "fast", "samples a second"),
        ("pid", "0", "is not a process identifier"),
        ("pid", "-1", "is not a process identifier"),
        ("pid", "x", "is not a process identifier"),
        ("components", "disk", "choose from"),
        ("output", "", "not a path"),
    ],
)
def test_nonsense_is_refused_in_one_line(option: str, value: str, said: str) -> None:
    with pytest.raises(RequestError, match=said) as refused:
        build(ProfileParameters, **{option: value})
    assert "\n" not in str(refused.value)
