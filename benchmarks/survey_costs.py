"""What preparing and sampling take here, beside what the survey's cost model says.

    python -m benchmarks.survey_costs

Every group of a survey is opened alone, and each of its points is sampled three times. Printed: for
each experiment seconds over predicted seconds, of set-up and of a round, and for groups that only
fill or only link memory the seconds per GiB. The constants of `memgauge.runner.costs` are chosen so
that the ratios of a quiet machine are near 1, none of them far above it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from statistics import median

import memgauge
from memgauge.experiments.registry import load
from memgauge.model.experiments import SURVEYED
from memgauge.model.parameters import build
from memgauge.runner.batches import Planned, needs
from memgauge.runner.costs import GIB, CostModel, cost_model
from memgauge.runner.fitting import LeftOut, fitting
from memgauge.runner.thinning import round_s_of, share_of_rounds, steps_of
from memgauge.system.memory.sources import opened

SAMPLES = 3


def measured(planned: Planned) -> tuple[float, float]:
    """Seconds in which a group is opened, and of a round of its points."""
    experiment, parameters, group = planned
    with opened(needs(planned), keep=False, overwrite=False) as memories:
        began_s = time.monotonic()
        with experiment.open(group, parameters, memories) as bench:
            opened_s = time.monotonic() - began_s
            round_s = 0.0
            whole_walks = group.whole_walks
            shares = {
                name: share_of_rounds(step, whole_walks, name)
                for step in steps_of([group])
                for name in step.names
            }
            for point in bench.points:
                if point.measured_with is None:
                    times_s = []
                    for round_ in range(SAMPLES):
                        before_s = time.monotonic()
                        bench.measure(point.point, round_)
                        times_s.append(time.monotonic() - before_s)
                    round_s += median(times_s) * shares[point.point]
    return opened_s, round_s


def predicted(planned: Planned, model: CostModel) -> tuple[float, float]:
    """The same by the model."""
    group = planned[2]
    round_s = sum(round_s_of(step, group, model) for step in steps_of([group]))
    return model.setup_s(group.setup()), round_s


def main() -> None:
    """Measure all groups and print what the model says of them."""
    system = memgauge.system()
    model = cost_model(system)
    requested = [(one := load(name), build(one.parameters)) for name in SURVEYED]
    times: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for planned in fitting(requested, system, LeftOut(requested)):
        setup = planned[2].setup()
        here, model_s = measured(planned), predicted(planned, model)
        times[planned[0].name].append((*here, *model_s))
        per_gib = here[0] * GIB / max(1, setup.filled_bytes + setup.linked_bytes)
        kind = "linked" if not setup.filled_bytes else "filled"
        print(
            f"{planned[0].name}: {planned[2].name}: opened in {here[0]:.2f} s ({per_gib:.2f} s per "
            f"GiB {kind}, {setup.threads} threads), model {model_s[0]:.2f} s; "
            f"a round {1e3 * here[1]:.0f} ms, model {1e3 * model_s[1]:.0f} ms"
        )
    for name, rows in times.items():
        opened_s, round_s, model_opened_s, model_round_s = (
            sum(column) for column in zip(*rows, strict=True)
        )
        print(
            f"{name}: set-up {opened_s / model_opened_s:.2f} and round "
            f"{round_s / model_round_s:.2f} times the model's"
        )


if __name__ == "__main__":
    main()
