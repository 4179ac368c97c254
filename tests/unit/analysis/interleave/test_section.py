"""Which interleave weights are advised, and what is said of those that others take."""

import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.interleave.runs import interleave_run, machine, together

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.interleave.figures import choices, firmware_weights
from memgauge.analysis.interleave.section import analyse
from memgauge.analysis.section import Section, Table
from memgauge.model.interleave_weights import kernels_weights

SWEPT = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (4, 1), (1, 4), (7, 2)]
DRAM_AND_CXL = (30.0, 10.0)


def texts(section: Section) -> list[str]:
    return [verdict.text for verdict in section.verdicts]


def table(section: Section, name: str) -> Table:
    return next(found for found in section.tables if found.name == name)


@pytest.fixture(scope="module")
def section() -> Section:
    return analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT)))


def test_weights_in_the_ratio_of_the_speeds_are_advised(section: Section) -> None:
    (advice,) = section.verdicts
    assert advice.level == "good"
    assert advice.text.startswith("Weights 3:1 of nodes 0, 2 give 1.33 (1.33..1.34) times the")
    assert "node 0 alone: 40." in advice.text
    assert "(copy, 4 threads); 1:1 gives 0.67 (" in advice.text


def test_each_ratio_is_that_of_the_speeds(section: Section) -> None:
    alone = together(DRAM_AND_CXL, (1, 0))
    found = {str(row["weights"]): row for row in rows(table(section, "interleave"))}
    assert len(found) == len(SWEPT)
    for weights in SWEPT[2:]:
        row = found[":".join(map(str, weights))]
        assert value(row["over best node"]) == pytest.approx(
            together(DRAM_AND_CXL, weights) / alone, rel=0.01
        )
    assert [name for name, row in found.items() if row["chosen"]] == ["3:1"]
    assert next(iter(found)) == "node 0 alone"
    assert list(found)[-1] == "node 2 alone"


def test_the_commands_set_just_these_weights(section: Section) -> None:
    commands = [row["command"] for row in rows(table(section, "interleave-commands"))]
    assert commands == [
        "echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0",
        "echo 1 > /sys/kernel/mm/mempolicy/weighted_interleave/node2",
        "numactl --weighted-interleave=0,2 program",
        "memgauge stream --memory interleave:0=3,2=1",
    ]


def test_drift_of_the_machine_does_not_widen_what_is_paired() -> None:
    steady = choices(figures_of(interleave_run(DRAM_AND_CXL, SWEPT)))[0].gain
    drifting = choices(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, drift=0.3)))[0].gain
    assert steady is not None
    assert drifting is not None
    assert drifting.value == pytest.approx(steady.value, rel=0.005)
    assert drifting.high - drifting.low < 0.01


def test_of_weights_that_noise_does_not_tell_apart_the_smallest_are_advised() -> None:
    speeds = (31.27, 10.0)  # by which 7:2 is faster than 3:1 by half a per cent
    section = analyse(figures_of(interleave_run(speeds, SWEPT)))
    text = texts(section)[0]
    assert text.startswith("Weights 3:1 of nodes 0, 2 give")
    assert "7:2 was fastest, but not beyond noise" in text


def test_where_no_weights_are_faster_than_a_node_alone_that_is_said() -> None:
    # All pages through one link: what the second node serves the first no longer does.
    run = interleave_run((10.0, 0.5), SWEPT)
    (verdict,) = analyse(figures_of(run)).verdicts
    assert verdict.level == "note"
    assert verdict.text.startswith(
        "No weights beat node 0 alone by more than noise: the best, 4:1, gives 0.25 ("
    )
    commands = [
        row["command"] for row in rows(table(analyse(figures_of(run)), "interleave-commands"))
    ]
    assert commands == [
        "numactl --membind=0 program",
        "memgauge stream --memory node:0",
    ]


def test_few_rounds_advise_nothing() -> None:
    (verdict,) = analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, rounds=4))).verdicts
    assert verdict.level == "warning"
    assert verdict.text.startswith("No weights beat node 0 alone by more than noise")
    assert "too few rounds for an interval" in verdict.text
    section = analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, rounds=4)))
    assert [one.name for one in section.tables] == ["interleave"], "no commands"
    assert not any(row["chosen"] for row in rows(section.tables[0]))
    assert section.charts[0].marks == []


def test_what_noise_alone_made_the_fastest_is_not_advised() -> None:
    """Weights of few rounds beside a node alone of many."""
    found = choices(figures_of(interleave_run((10.0, 10.0), SWEPT, noise=0.2, rounds=40)))
    run_of_one = choices(figures_of(interleave_run((10.0, 0.0001), SWEPT, noise=0.2, rounds=40)))
    assert found[0].chosen.weights == (1, 1)
    assert run_of_one[0].chosen.is_alone


def test_what_is_said_and_what_stands_in_the_table_agree() -> None:
    """However noisy: nothing is faster by its interval where no weights are said to be."""
    for seed in range(12):
        run = interleave_run((10.0, 9.0), SWEPT, noise=0.25, rounds=14, seed=seed)
        (choice,) = choices(figures_of(run))
        beating = [over for over in choice.over_alone.values() if over.low > 1]
        text = texts(analyse(figures_of(run)))[0]
        assert text.startswith("No weights beat") == (not beating)
        assert choice.chosen.is_alone == (not beating)


def test_each_kernel_has_weights_of_its_own() -> None:
    run = interleave_run(DRAM_AND_CXL, SWEPT, kernels=("read", "copy"))
    section = analyse(figures_of(run))
    assert len(section.verdicts) == 2
    weights = {row["weights"] for row in rows(table(section, "interleave-commands"))}
    assert weights == {"3:1 (read, copy)"}
    assert len(section.charts[0].series) == 2


def test_the_kernels_own_weights_and_the_firmwares_stand_beside_and_are_called_claims() -> None:
    of = machine([0, 2], kernels=[1, 1], claimed_gb_per_s=[20.0, 10.0])
    section = analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, of=of)))
    _, kernels, firmware = texts(section)
    assert kernels.startswith("The kernel's present weights, 1:1, give 0.50 (")
    assert firmware.startswith(
        "The weights that Linux would make of the bandwidths claimed by the firmware (HMAT), 21:10,"
    )
    assert firmware.endswith("were not measured (copy, 4 threads).")
    same = machine([0, 2], kernels=[6, 2])
    assert (
        "3:1, are those chosen here"
        in texts(analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, of=same))))[1]
    )


def test_weights_of_the_firmware_are_those_of_linux() -> None:
    assert firmware_weights([0, 2], machine([0, 2], claimed_gb_per_s=[100.0, 100.0])) == (1, 1)
    assert firmware_weights([0, 2], machine([0, 2], claimed_gb_per_s=[300.0, 100.0])) == (3, 1)
    assert firmware_weights([0, 2], machine([0, 2], claimed_gb_per_s=[1000.0, 1.0])) == (31, 1)
    assert firmware_weights([0, 2], machine([0, 2])) is None
    assert firmware_weights([0, 7], machine([0, 2], claimed_gb_per_s=[1.0, 1.0])) is None
    assert kernels_weights([0, 2], machine([0, 2], kernels=[4, None])) is None


def test_pages_too_few_for_fine_weights_are_said() -> None:
    section = analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, largest_sum=5)))
    assert section.verdicts[0].level == "warning"
    assert (
        "for weights that add up to more than 5, so finer weights were not tried"
        in texts(section)[0]
    )


def test_two_nodes_are_drawn_over_the_second_ones_share(section: Section) -> None:
    (chart,) = section.charts
    (line,) = chart.series
    assert line.x == sorted(line.x)
    assert (line.x[0], line.x[-1]) == (0.0, 1.0)
    (mark,) = chart.marks
    assert (mark.label, mark.x) == ("copy: 3:1", 0.25)


def test_more_nodes_are_drawn_as_bars() -> None:
    swept = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (2, 2, 1), (1, 1, 0)]
    run = interleave_run((20.0, 20.0, 10.0), swept, nodes=(0, 1, 2))
    section = analyse(figures_of(run))
    assert section.charts[0].kind == "bar"
    assert "1:1 of nodes 0, 1" in section.charts[0].series[0].x
    assert texts(section)[0].startswith("Weights 2:2:1 of nodes 0, 1, 2 give 2.5")


def test_nothing_measured_is_said() -> None:
    section = analyse(figures_of(interleave_run(DRAM_AND_CXL, SWEPT, rounds=0)))
    assert texts(section) == ["No interleave weights were measured."]
    assert (section.tables, section.charts) == ([], [])


def test_two_runs_are_compared_weights_by_weights() -> None:
    sources = [
        of_run(figures_of(interleave_run(speeds, SWEPT)), name)
        for name, speeds in (("one", DRAM_AND_CXL), ("other", (33.0, 11.0)))
    ]
    (pair,) = compare(sources).pairs
    assert len(pair.rows) == len(SWEPT)
    assert {row.ratio is not None for row in pair.rows} == {True}
