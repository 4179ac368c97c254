"""Reports that hypothesis makes: any text, any figure, any shape."""

from hypothesis import strategies as st

from memgauge.analysis.section import (
    Axis,
    Band,
    Chart,
    Column,
    Headline,
    Mark,
    Report,
    Rule,
    Section,
    Series,
    Table,
    Verdict,
)
from memgauge.analysis.statistics.estimate import Estimate

texts = st.text(max_size=40)
numbers = st.floats(allow_nan=True, allow_infinity=True)
estimates = st.builds(Estimate, numbers, numbers, numbers)
units = st.sampled_from([None, "", "GB/s", "ns", "B", "%"])
cells = st.none() | estimates | numbers | st.integers(-(2**63), 2**64) | st.booleans() | texts
columns = st.builds(Column, title=texts, unit=units, digits=st.integers(0, 3), narrow=st.booleans())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    heads = draw(st.lists(columns, min_size=1, max_size=5))
    row = st.lists(cells, min_size=len(heads), max_size=len(heads))
    rows = draw(st.lists(row, max_size=4))
    note = draw(st.none() | texts)
    return Table(name="t", title=draw(texts), columns=heads, rows=rows, note=note)


axes = st.builds(
    Axis,
    title=texts,
    unit=st.sampled_from(["", "B", "ns", "GB/s", "%"]) | texts,
    scale=st.sampled_from(["linear", "log2", "log10"]),
    from_zero=st.booleans(),
)


@st.composite
def series(draw: st.DrawFn) -> Series:
    count = draw(st.integers(0, 5))
    xs = draw(st.lists(numbers | texts, min_size=count, max_size=count))
    ys = st.lists(st.none() | numbers, min_size=count, max_size=count)
    low, high = (draw(st.none() | ys) for _ in range(2))
    notes = draw(st.none() | st.lists(st.none() | texts, max_size=count))
    return Series(
        name=draw(texts),
        x=xs,
        y=draw(ys),
        low=low,
        high=high,
        dashed=draw(st.booleans()),
        notes=notes,
    )


charts = st.builds(
    Chart,
    name=texts,
    title=texts,
    kind=st.sampled_from(["line", "bar", "heatmap"]),
    x=axes,
    y=axes,
    series=st.lists(series(), max_size=3),
    bands=st.lists(st.builds(Band, label=texts, start=numbers, end=numbers), max_size=2),
    rules=st.lists(
        st.builds(Rule, label=texts, axis=st.sampled_from(["x", "y"]), value=numbers), max_size=2
    ),
    rows=st.none() | axes,
    marks=st.lists(
        st.builds(
            Mark,
            label=texts,
            x=numbers,
            y=numbers,
            x_low=st.none() | numbers,
            x_high=st.none() | numbers,
        ),
        max_size=4,
    ),
    note=st.none() | texts,
)
verdicts = st.builds(
    Verdict,
    level=st.sampled_from(["good", "note", "warning", "problem"]),
    text=texts,
    remedy=st.none() | texts,
)
sections = st.builds(
    Section,
    name=texts,
    title=texts,
    question=texts,
    verdicts=st.lists(verdicts, max_size=2),
    tables=st.lists(tables(), max_size=2),
)
headlines = st.builds(
    Headline, label=texts, value=cells, unit=units, digits=st.integers(0, 3), detail=texts
)
reports = st.builds(
    Report,
    run_id=texts,
    started_at=texts,
    title=texts,
    machine=texts,
    complete=st.booleans(),
    status=texts,
    verdicts=st.lists(verdicts, max_size=3),
    sections=st.lists(sections, max_size=2),
    system=tables(),
    headlines=st.lists(headlines, max_size=4),
    precision=st.none() | st.just(0.01),
)
"""Without charts: those are drawn one by one in the tests of figures, because drawing is slow."""
