"""How lists of counter events are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.counting.event_names import events_option, split_events
from memgauge.model.errors import RequestError

RAW = "perf:uncore_imc/event=0x4,umask=0x3/"


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("auto", ("auto",)),
        ("modelled", ("modelled",)),
        ("pcp,perf", ("pcp", "perf")),
        (f"perf,{RAW},pcp", ("perf", RAW, "pcp")),
        ("perf:cycles,perf:instructions", ("perf:cycles", "perf:instructions")),
        (f"{RAW}, perf:cycles", (RAW, "perf:cycles")),
        (f"perf:cycles,{RAW},auto", ("perf:cycles", RAW, "auto")),
        ("auto,pcp:a.b[cpu0],auto,", ("auto", "pcp:a.b[cpu0]")),
        (
            "perf:sched:sched_switch,net:eth0/rx_bytes",
            ("perf:sched:sched_switch", "net:eth0/rx_bytes"),
        ),
        ("", ()),
    ],
)
def test_commas_inside_an_event_do_not_end_it(text: str, events: tuple[str, ...]) -> None:
    assert split_events(text) == events


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "--counters names no event"),
        ("none,auto", "combines none with events"),
        ("cycles", "'cycles' is not of the form BACKEND:EVENT"),
        ("perf:", "'perf:' is not of the form BACKEND:EVENT"),
        (":cycles", "':cycles' is not of the form BACKEND:EVENT"),
        ("perf:cycles,,", "'perf:cycles,' is not of the form BACKEND:EVENT"),
        ("0:,,", "'0:,' is not of the form BACKEND:EVENT"),
    ],
)
def test_what_names_no_event_is_refused(text: str, why: str) -> None:
    with pytest.raises(RequestError, match=why):
        events_option("counters").parse(text, "--counters")


def test_the_text_form_is_read_back() -> None:
    option = events_option("counters")
    events = ("perf:cycles", RAW, "auto")
    assert option.parse(option.write(events), "--counters") == events


@given(st.text() | st.text(alphabet="perf:auton,/=_x4[]. \n\0"))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    option = events_option("counters")
    refused, events = "", ()
    try:
        events = option.parse(text, "--counters")
    except RequestError as error:
        refused = str(error)
    assert bool(refused) != bool(events)
    assert not {"\n", "\0"} & set(refused)
    if events:
        assert option.parse(option.write(events), "--counters") == events
