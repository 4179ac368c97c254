"""`counters verify` and `counters compare` as commands, on counters that really open."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints
from tests.integration.counters.verify_here import Settings, plant

pytestmark = pytest.mark.whole_machine

QUICK = ("--region", "2ms", "--budget", "40s")
ROOT = Path(__file__).parents[3]


class Here:
    """Commands run in a directory of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.faults: dict[str, str | None] = {}
        """Of the last verification, by event."""
        self.sysfs = directory / "tree" / "sys"

    def run(
        self, arguments: list[str], *, prefix: tuple[str, ...] = (), sysfs: bool = False
    ) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "XDG_STATE_HOME": str(self.directory / "state"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        }
        if sysfs:
            environment["MEMGAUGE_SYSFS"] = str(self.sysfs)
        return subprocess.run(
            [*prefix, sys.executable, "-m", *arguments],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def verify(self, tree: str, **faults: Any) -> dict[str, tuple[str, str]]:
        """Verdict and evidence of each event, as the command kept them."""
        settings = self.directory / "settings.json"
        planted = str(self.directory / "tree")
        settings.write_text(json.dumps({"tree": tree, "root": planted, **faults}))
        done = self.run(
            ["tests.integration.counters.verify_here", str(settings), "counters", "verify", *QUICK]
        )
        if "no two system calls here" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert "Verification of counters" in done.stdout, done.stderr
        [kept] = self.directory.glob("state/memgauge/verdicts/*/*.json")
        found = json.loads(kept.read_bytes())["verdicts"]
        good = all(one["verdict"] == "verified" for one in found)
        assert done.returncode == (0 if good else 5), done.stderr
        self.faults = {one["event"]: one["fault"] for one in found}
        return {one["event"]: (one["verdict"], one["evidence"]) for one in found}


@pytest.fixture
def here(tmp_path: Path) -> Here:
    if (reason := tracepoints.missing()) is not None:
        pytest.skip(reason)
    return Here(tmp_path)


@pytest.mark.parametrize("tree", ["intel_server", "amd_umc", "dmc620", "grace", "power9", "client"])
def test_each_platform_s_events_are_verified(here: Here, tree: str) -> None:
    found = here.verify(tree)
    assert len(found) == 2
    assert {verdict for verdict, _ in found.values()} == {"verified"}, found


@pytest.mark.parametrize(("factor", "shown"), [(64.0, "64"), (0.5, "1/2")])
def test_a_scale_that_lies_is_found(here: Here, factor: float, shown: str) -> None:
    found = here.verify("intel_server", scales={"write_bytes": factor})
    verdict, evidence = found["perf:uncore_imc/cas_count_write/"]
    assert verdict == "mis-scaled"
    assert f"{shown} is a known signature" in evidence
    assert found["perf:uncore_imc/cas_count_read/"][0] == "verified"


def test_a_silent_socket_and_a_dead_counter_are_found_and_stand_beside_the_events(
    here: Here,
) -> None:
    found = here.verify("amd_umc", silent=["read_bytes"], silent_cpus=[1], idle_calls=3)
    verdict, evidence = found["perf:amd_umc/umc_cas_cmd.rd/"]
    assert verdict == "partial"
    assert "nothing is counted on socket 1" in evidence
    found = here.verify("amd_umc", silent=["write_bytes"], silent_cpus=[0, 1])
    assert found["perf:amd_umc/umc_cas_cmd.wr/"][0] == "dead"
    assert found["perf:amd_umc/umc_cas_cmd.rd/"][0] == "verified"
    listed = here.run(["memgauge", "counters", "--back-end", "perf"], sysfs=True).stdout
    assert "dead" in listed
    assert "verified" in listed
    event = "perf:amd_umc/umc_cas_cmd.wr/"
    explained = here.run(["memgauge", "counters", "explain", event], sysfs=True).stdout
    assert "dead" in explained
    assert "dead" not in here.run(["memgauge", "counters", "--back-end", "perf"]).stdout


@pytest.mark.parametrize(
    ("settings", "fault", "says"),
    [
        ({"swapped": True}, "swapped directions", "its directions are swapped"),
        ({"twice": True, "idle_calls": 7}, "listed twice", "count the same even while idle"),
        ({"wraps_at": 0.8}, "wraps", "depends on the bytes moved"),
        ({"stops_after": 90}, "stops", "and then nothing: it stopped"),
        ({"factors": {"1": 2.0}}, "one socket", "of socket 1"),
        ({"silent": ["read_bytes", "write_bytes"], "silent_cpus": [1]}, "one socket", "socket 1"),
    ],
)
def test_faults_are_named(here: Here, settings: dict[str, Any], fault: str, says: str) -> None:
    found = here.verify("intel_server", **settings)
    assert set(here.faults.values()) == {fault}, found
    assert all(says in evidence for _, evidence in found.values()), found


def test_auto_leaves_a_way_that_was_found_mis_scaled_for_a_verified_one(here: Here) -> None:
    """POWER9's units of channels, which count in another unit than the tables state."""
    settings = Settings(
        tree="power9_both", root=str(here.directory / "tree"), wrong={"nest_mba": 1 / 64}
    )
    plant(settings)
    explain = ["memgauge", "counters", "explain", "auto"]
    before = here.run(explain, sysfs=True).stdout
    assert "dram is counted by mba, unverified" in before
    here.verify("power9_both", wrong={"nest_mba": 1 / 64})
    after = here.run(explain, sysfs=True).stdout
    assert "dram is counted by mcs, found verified on" in after
    assert "not by mba, found mis-scaled on" in " ".join(after.split())
    assert "perf:nest_mba" not in after
    one = here.run([*explain[:3], "perf:nest_mba_imc/PM_MBA_READ_BYTES/"], sysfs=True).stdout
    assert "calibrated x64: a count is taken as" in " ".join(one.split())


def test_traffic_of_others_is_taken_off(here: Here) -> None:
    found = here.verify("intel_server", idle_calls=30)  # a busy machine shifts how long each lasts
    assert {verdict for verdict, _ in found.values()} == {"verified"}, found


def test_without_privilege_the_refusal_says_what_would_change_it(here: Here) -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("setpriv and root are needed, to give up root's rights")
    plant(Settings(tree="client", root=str(here.directory / "tree")))
    done = here.run(
        ["memgauge", "counters", "verify", "--back-ends", "perf", "--output", "run"],
        prefix=(setpriv, "--bounding-set=-all", "--inh-caps=-all"),
        sysfs=True,
    )
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("memgauge:")]
    assert len(errors) == 1
    assert "no counter of memory traffic can be opened" in errors[0]
    assert "perf_event_paranoid" in errors[0]
    assert not (here.directory / "run").exists()


def test_without_counters_one_line_names_each_back_end(tmp_path: Path) -> None:
    here = Here(tmp_path)
    (here.sysfs / "bus/event_source/devices").mkdir(parents=True)
    done = here.run(["memgauge", "counters", "verify", "--back-ends", "perf"], sysfs=True)
    assert done.returncode == 2
    [error] = [line for line in done.stderr.splitlines() if line.startswith("memgauge:")]
    assert "no counter of memory traffic here: perf:" in error
    done = here.run(["memgauge", "counters", "compare", "perf", "resctrl"], sysfs=True)
    assert done.returncode == 2
    assert "counters compare: no counter of memory traffic here: perf: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "--back-ends", "nvml"], "choose from perf, pcp, resctrl"),
        (["verify", "--events", "cycles"], "is not of the form BACKEND:EVENT"),
        (["compare", "perf", "nvml"], "choose from perf, pcp, resctrl"),
        (["compare", "perf", "perf"], "exactly two back ends are needed"),
        (["compare", "perf"], "missing argument"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = Here(tmp_path).run(["memgauge", "counters", *arguments])
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
