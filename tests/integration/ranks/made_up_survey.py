"""`memgauge`, whose surveys of nodes measure nothing: they write made-up records and take a while.

    MADE_UP_S=3 mpirun -n 2 python -m tests.integration.ranks.made_up_survey cluster --output DIR

With a process and `survey` as its first arguments it is such a survey.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tests.unit.analysis.runs import records

from memgauge.__main__ import main
from memgauge.cluster import survey_child
from memgauge.model.records import RunEnd, Sample
from memgauge.model.storage.run_writer import RunWriter
from memgauge.model.termination import Terminated, unwinding

ROUNDS = 16
SECONDS = float(os.environ.get("MADE_UP_S", "0.5"))


def survey(directory: Path) -> int:
    """Half of the records, a while, and the other half."""
    made = [one for one in records(ROUNDS) if not isinstance(one, RunEnd)]
    first = next(at for at, one in enumerate(made) if isinstance(one, Sample))
    half = (first + len(made)) // 2
    end = RunEnd(status="complete", reason=None, elapsed_s=SECONDS, rounds=1)
    with RunWriter(directory) as writer:
        writer.write(made[:half])
        try:
            with unwinding():
                until_s = time.monotonic() + SECONDS
                while time.monotonic() < until_s:
                    time.sleep(0.02)
        except Terminated as ended:
            writer.write([RunEnd(status="interrupted", reason=str(ended), elapsed_s=0, rounds=1)])
            return ended.exit_code
        writer.write([*made[half:], end])
    return 0


if __name__ == "__main__":
    if sys.argv[2:3] == ["survey"]:
        survey_child.end_with(int(sys.argv[1]))
        sys.exit(survey(Path(sys.argv[sys.argv.index("--output") + 1])))
    survey_child.SURVEY = "tests.integration.ranks.made_up_survey"
    sys.exit(main())
