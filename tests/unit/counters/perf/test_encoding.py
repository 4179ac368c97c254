"""Event strings: what is understood, what is refused and where, and nothing else ever."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memgauge.counters.perf.encoding import (
    Term,
    Words,
    decode,
    encode,
    expanded,
    parse_event,
    parse_terms,
    shown,
)
from memgauge.counters.perf.pmu import WORDS, Bits, Field, parse_field
from memgauge.model.errors import RequestError


def fields(**formats: str) -> dict[str, Field]:
    made = {name: parse_field(name, text) for name, text in formats.items()}
    return {name: field for name, field in made.items() if field is not None}


IMC = fields(event="config:0-7", umask="config:8-15", edge="config:18")
DF = fields(event="config:0-7,32-37", umask="config:8-15,24-27")


def words(text: str, of: dict[str, Field]) -> Words:
    return encode(parse_terms(text), of, "event 'x'")


def test_fields_go_where_the_format_says() -> None:
    assert words("event=0x05,umask=0xcf", IMC) == Words(0xCF05)


def test_a_field_without_a_value_is_one() -> None:
    assert words("event=1,edge", IMC) == Words(1 << 18 | 1)


def test_a_split_field_is_filled_low_bits_first() -> None:
    assert words("event=0x3f,umask=0x7fe", DF) == Words(0x3F | 0xFE << 8 | 0x7 << 24)
    assert words("event=0x3fff", DF) == Words(0xFF | 0x3F << 32)


def test_words_may_be_given_whole() -> None:
    assert words("config=0x10,config1=0x20,config3=1", {}) == Words(0x10, 0x20, 0, 1)


def test_a_published_event_is_replaced_and_terms_given_override_it() -> None:
    published = {"cas": "event=0x04,umask=0x03"}
    assert expanded(parse_terms("cas,umask=0x0f"), published) == [
        Term("event", 4),
        Term("umask", 15),
    ]


def test_an_open_field_has_to_be_given() -> None:
    terms = parse_terms("event=1,umask=?")
    with pytest.raises(RequestError, match="umask has no value; give a number: umask=0"):
        encode(terms, IMC, "event 'x'")
    assert expanded([*parse_terms("e,umask=2")], {"e": "event=1,umask=?"})[1] == Term("umask", 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("imc", "lacks the '/' after the PMU"),
        ("imc/event=1", "lacks the '/' at its end"),
        ("imc/", "names no event after the '/'"),
        ("/event=1/", "'' before the '/' is not the name of a PMU"),
        ("i m/event=1/", "'i m' before the '/' is not the name of a PMU"),
        ("imc/event=1/u", "'u' after the last '/' is not understood"),
        ("imc//", "term 1 is empty"),
        ("imc/event=1,/", "term 2 is empty"),
        ("imc/event=/", "term 1: '' is not a number"),
        ("imc/event=0x/", "term 1: '0x' is not a number"),
        ("imc/event=1,umask=-2/", "term 2: '-2' is not a number"),
        ("imc/event=1,event=2/", "gives 'event' twice"),
        ("imc/=1/", "term 1: '' is not the name of a field"),
        ("imc/event=18446744073709551616/", "does not fit in 64 bits"),
        ("imc/event=\u0661/", "is not a number"),
        ("imc/" + "a," * 4000 + "/", "longer than 4096 characters"),
    ],
)
def test_a_malformed_text_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_event(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("evnt=1", "has no field or event 'evnt'; its fields are event, umask, edge"),
        ("event=0x100", "event=0x100 does not fit its 8 bits; the largest is 0xff"),
        ("edge=2", "edge=0x2 does not fit its 1 bit; the largest is 0x1"),
    ],
)
def test_what_the_pmu_cannot_take_is_refused(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=said.replace("(", r"\(")):
        words(text, IMC)


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="imc/event=umask,0x12fF?_ .-:", max_size=60),
    st.lists(
        st.tuples(st.sampled_from(["event", "umask", "edge", "config1", "x"]),
                  st.integers(-1, 1 << 66)), max_size=5,
    ).map(lambda terms: "imc/" + ",".join(f"{name}={value}" for name, value in terms) + "/"),
)  # fmt: skip


@given(TEXTS)
@example("imc/event/")
def test_any_text_is_encoded_or_refused(text: str) -> None:
    try:
        requested = parse_event(text)
        made = encode(requested.terms, IMC, "event")
    except RequestError:
        return
    assert all(0 <= getattr(made, word) < 1 << 64 for word in WORDS)
    assert parse_event(f"{requested.pmu}/{shown(requested.terms)}/") == requested


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Field]:
    """Fields that share the bits of the words among them."""
    made: dict[str, Field] = {}
    for word in WORDS:
        edges = sorted(draw(st.sets(st.integers(0, 64), max_size=7)))
        ranges = [Bits(a, b - 1) for a, b in pairwise(edges)]
        order = draw(st.permutations(ranges))
        cut = draw(st.integers(0, len(order)))
        for part in (order[:cut], order[cut:]):
            if part:
                name = f"f{len(made)}"
                made[name] = Field(name, word, list(part))
    return made


@given(layouts(), st.data())
def test_encoding_and_decoding_are_inverse(of: dict[str, Field], data: st.DataObject) -> None:
    values = {name: data.draw(st.integers(0, (1 << field.width) - 1)) for name, field in of.items()}
    made = encode([Term(name, value) for name, value in values.items()], of, "event")
    assert decode(made, of) == values
    again = encode([Term(n, v) for n, v in decode(made, of).items()], of, "event")
    assert msgspec.structs.asdict(again) == msgspec.structs.asdict(made)
