import pytest

from memgauge.model.errors import RequestError
from memgauge.references.library import NAMES, Reference, load

DRAM, NVDIMM = "nvdimm-dram", "nvdimm"


def figure(reference: Reference, name: str) -> float:
    return next(figure.value for figure in reference.figures if figure.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_every_set_says_what_it_is_and_what_is_wrong_with_it(name: str) -> None:
    described = load(name).description
    assert described.title
    assert described.machine
    assert described.study
    assert described.conditions
    assert described.caveats


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_named_once_and_positive(name: str) -> None:
    figures = load(name).figures
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.value > 0 for figure in figures)


@pytest.mark.parametrize("name", NAMES)
def test_mappings_use_columns_and_rows_that_are_there(name: str) -> None:
    reference = load(name)
    for mapping in reference.description.figures:
        used = {*mapping.times, *mapping.divided_by, *mapping.where}
        used |= {mapping.column} if mapping.column else set()
        assert used <= set(reference.columns)
        assert (mapping.column is None) != (mapping.value is None)
        cells = mapping.where.items()
        assert any(all(row[key] == cell for key, cell in cells) for row in reference.rows)


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_whole(name: str) -> None:
    reference = load(name)
    assert reference.rows
    for row in reference.rows:
        assert list(row) == reference.columns
        assert all(row.values())


def test_an_unknown_name_names_the_choices() -> None:
    with pytest.raises(RequestError, match=r"'nvdim'.*choose from nvdimm-dram, nvdimm, "):
        load("nvdim")


def test_a_name_may_carry_its_prefix() -> None:
    assert load("reference:nvdimm") is load("reference:nvdimm")
    assert load("reference:nvdimm") == load("nvdimm")


def test_a_column_is_numbers_and_a_range_is_none() -> None:
    assert load(DRAM).column("threads") == list(range(1, 33))
    with pytest.raises(ValueError, match=r"7\.9-8\.0"):
        load("hybrid12-cache-miss").column("runtime_ms")


def test_stream_tables_are_in_gb_per_s() -> None:
    assert figure(load(DRAM), "stream/copy/standard/double/1t") == pytest.approx(11.6735)
    assert figure(load(DRAM), "stream/triad/standard/double/32t") == pytest.approx(72.2129)
    assert len(load(DRAM).figures) == 4 * 32


def test_the_printed_percentages_follow_from_the_two_tables() -> None:
    printed = load("nvdimm-difference")
    dram, nvdimm = load(DRAM).column("copy_MBps"), load(NVDIMM).column("copy_MBps")
    assert printed.column("dram_copy_MBps") == dram[:16]
    assert printed.column("nvdimm_copy_MBps") == nvdimm[:16]
    percentages = [100 * b / a for a, b in zip(dram, nvdimm, strict=True)]
    assert printed.column("nvdimm_over_dram_percent") == pytest.approx(percentages[:16], abs=0.05)


@pytest.mark.parametrize("name", ["nvdimm-nvm-nvm", "nvdimm-nvm-dram", "nvdimm-dram-nvm"])
def test_the_two_tiers_add_up(name: str) -> None:
    reference = load(name)
    dram, nvdimm = reference.column("dram_MBps"), reference.column("nvdimm_MBps")
    sums = [a + b for a, b in zip(dram, nvdimm, strict=True)]
    assert reference.column("sum_MBps") == pytest.approx(sums, abs=0.011)


def test_the_tlb_cases_touch_different_numbers_of_elements_and_it_says_so() -> None:
    reference = load("hybrid12-tlb")
    touched = [
        int(elements / stride)
        for elements, stride in zip(
            reference.column("elements"), reference.column("stride"), strict=True
        )
    ]
    said = reference.description.caveats[0]
    assert all(f"{count:,}" in said for count in touched)
    assert "cannot be compared" in said
    per_element = [
        1e6 * ms / n for ms, n in zip(reference.column("runtime_ms"), touched, strict=True)
    ]
    assert [figure.value for figure in reference.figures] == pytest.approx(per_element)


def test_a_range_is_no_figure() -> None:
    assert [figure.label.partition(":")[0] for figure in load("hybrid12-cache-miss").figures] == [
        "L2-resident",
        "DRAM large stride",
        "DRAM random",
    ]


def test_counts_of_the_altra_give_the_printed_bandwidth() -> None:
    reference = load("altra-dmc620")
    loaded = [row for row in reference.rows if int(row["read_count"]) > 1e9]
    counted = 64 * sum(int(row["read_count"]) + int(row["write_count"]) for row in reference.rows)
    seconds = 99 * 24 * 640e6 / (figure(reference, "stream/add/standard/double/64t") * 1e9)
    assert len(loaded) == 8
    assert counted / seconds * 1e-9 == pytest.approx(
        figure(reference, "controllers/add/64t"), rel=1e-7
    )
