"""The directory in which a command of the pages is run, and the files and runs that it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import msgspec
from tests.documented.pages import ROOT, Shown
from tests.integration import warm
from tests.integration.command import OPEN_MPI
from tests.integration.ranks.two_hosts import missing_for_ranks
from tests.samples.paths import TOOL_SAMPLES
from tests.unit.analysis.diagnose.programs import recorded
from tests.unit.analysis.loaded.runs import Traffic, loaded_records
from tests.unit.analysis.profile.runs import counted_profile
from tests.unit.analysis.runs import records
from tests.unit.system.trees import guest, plant

from memgauge.model.records import AnyRecord, RunStart
from memgauge.model.storage.cluster import MANIFEST_NAME, NODES_NAME, read_manifest
from memgauge.model.storage.run_file import read_run
from memgauge.model.storage.run_writer import RunWriter
from memgauge.model.storage.series import run_of_series
from memgauge.store.add import add

LIMIT_S = 300
RUN_COMMAND = "memgauge stream --kernel copy --threads 1 --array-bytes 64KiB --budget 3s"
PROFILE_COMMAND = "memgauge profile --quiet --components process --output PROFILE -- sleep 0.2"
SURVEY_COMMAND = (
    "mpirun -n 1 python -m tests.integration.ranks.made_up_survey cluster --output survey"
)
COPIES = ("survey/nodes/node1", "survey/nodes/node2", "survey/nodes/nha")
MADE_UP = ("before", "after")
"""Their figures have intervals however busy this machine is, so that they can be compared."""
DIAGNOSES = {"diagnosis-of-old": 0.5, "diagnosis-of-new": 0.2}
"""Made-up diagnoses, with the share of time in which the program waits for memory."""
SERIES = ("old", "new")
"""Each holds three made-up runs, as `--repeat` makes them."""
RUNS_OF_SERIES = 3
SCRIPT = """#!/bin/sh
head -c 1000000 /dev/zero | wc -c
sleep 0.1
echo time 0.1 s
[ -z "$MEMGAUGE_MARKS" ] || printf 'b 1000 1 1 0 solve\\ne 9000 1 1 0 solve\\n' >>"$MEMGAUGE_MARKS"
"""
MACHINE = """
name = "{name}"
title = "one level"
source = "made up"

[[levels]]
name = "L1"
bytes = 32_768
ways = {ways}
"""


def environment(place: Path, usual: Mapping[str, str]) -> dict[str, str]:
    """In which `memgauge` is the one of this interpreter, and keeps its state in `place`."""
    programs = str(Path(sys.executable).parent)
    made = {
        **usual,
        **OPEN_MPI,
        "PATH": os.pathsep.join([programs, usual.get("PATH", os.defpath)]),
        "XDG_STATE_HOME": str(place / "state"),
        "NO_COLOR": "1",
    }
    return warm.shell_environment(made)


def shell(
    text: str, place: Path, usual: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a line in that directory, as a reader would."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=place,
        env=environment(place, os.environ if usual is None else usual),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def build_template(place: Path) -> Path:
    """Make every file and run that pages name, once; commands get copies."""
    _require(shell(f"{RUN_COMMAND} --output my-run", place))
    plant(place / "copy-of-server", guest())
    for name in MADE_UP:
        with RunWriter(place / name) as writer:
            writer.write(records())
    if find_spec("polars"):
        add(place / "store", "node17", read_run(place / MADE_UP[0]))
    for name, latency in DIAGNOSES.items():
        with RunWriter(place / name) as writer:
            writer.write(_named(iter(recorded(latency)), name))
    for at in range(2 * RUNS_OF_SERIES):
        number, side = divmod(at, len(SERIES))
        with RunWriter(run_of_series(place / SERIES[side], number + 1)) as writer:
            writer.write(_named(records(seed=at), f"run{at}"))
    _require(shell(PROFILE_COMMAND, place))
    counted_profile(place / "neighbour")
    if missing_for_ranks() is None:
        _require(shell(SURVEY_COMMAND, place, os.environ | {"PYTHONPATH": str(ROOT)}))
        _add_twin(place / "survey")
        shutil.copytree(place / "survey", place / "survey-of-june")
    _write_files_of_tools(place)
    for name in COPIES:
        shutil.copytree(place / "my-run", place / name)
    for name in ("solver", "fill"):
        (place / name).write_text(SCRIPT, encoding="utf-8")
        (place / name).chmod(0o755)
    (place / "pmem").mkdir()
    (place / "input.dat").write_text("1\n", encoding="utf-8")
    (place / "words.txt").write_text("b\na\n" * 50, encoding="utf-8")
    (place / "train.py").write_text("print(sum(range(1000)))\n", encoding="utf-8")
    for name, ways in (("mine", 8), ("ways7", 7)):
        machine = MACHINE.format(name=name, ways=ways)
        (place / f"{name}.toml").write_text(machine, encoding="utf-8")
    return place


def _write_files_of_tools(place: Path) -> None:
    """Output of other tools, and a run with curves under load."""
    names = {"stream.txt": "stream.txt", "stream-of-june.txt": "stream.txt"}
    names |= {"babelstream.txt": "babelstream.txt", "mlc.txt": "mlc.txt"}
    names |= {f"stream-results/2026-11-{at:02}.txt": "stream.txt" for at in range(1, 9)}
    (place / "stream-results").mkdir()
    for name, sample in names.items():
        shutil.copy(TOOL_SAMPLES / sample, place / name)
    with RunWriter(place / "loaded-run") as writer:
        writer.write(loaded_records([Traffic(), Traffic(read_share=0.5, store="non-temporal")]))


def _named(of: Iterator[AnyRecord], run_id: str) -> Iterator[AnyRecord]:
    """Records of a run under another name, so that no two are the same run."""
    for one in of:
        yield msgspec.structs.replace(one, run_id=run_id) if isinstance(one, RunStart) else one


def arrange(place: Path, shown: Shown, text: str) -> None:
    """Make a directory ready for one command: what it makes is not there, and RUN is what it is."""
    ours = "PROFILE" if shown.page == "docs/profile_reading.md" else "my-run"
    shutil.copytree(place / ours, place / "RUN")
    made = re.search(r"--output (\S+)", text)
    if made and (place / made[1]).exists():
        shutil.rmtree(place / made[1])


def refusal_shown(shown: Shown) -> str | None:
    """What the page says that the command refuses; None: it does what was asked."""
    return next((line for line in shown.answer if line.startswith("memgauge: ")), None)


def _add_twin(survey: Path) -> None:
    """Make a combined run of one node one of two."""
    manifest = read_manifest(survey)
    (node,) = manifest.nodes
    twin = msgspec.structs.replace(node, name="twin", hostname="twin", boot="another")
    shutil.copytree(survey / NODES_NAME / node.name, survey / NODES_NAME / twin.name)
    both = msgspec.structs.replace(manifest, nodes=[node, twin])
    (survey / MANIFEST_NAME).write_bytes(msgspec.json.encode(both))


def _require(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr


@contextmanager
def running() -> Iterator[int]:
    """A program that a profile can attach to, for as long as this lasts; its process."""
    with subprocess.Popen(["sleep", "5"]) as program:
        try:
            yield program.pid
        finally:
            program.kill()
