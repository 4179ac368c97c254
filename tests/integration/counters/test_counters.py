"""`memgauge counters` and `memgauge counters explain`, as users run them."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.counters_trees.machines import MACHINES
from tests.integration import command

from memgauge.analysis.schema import counters_schema
from memgauge.counters.host import SYSFS_VARIABLE

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]

ENTITLED = (1 << 21) | (1 << 38)


def memgauge(
    *arguments: str,
    tree: Path | None = None,
    before: tuple[str, ...] = (),
    state: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    environment.pop(SYSFS_VARIABLE, None)
    if tree is not None:
        environment[SYSFS_VARIABLE] = str(tree)
    return command.memgauge(*arguments, before=before, environment=environment)


def unprivileged() -> tuple[str, ...]:
    """What runs a command without rights: nothing where we have none."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    rights = next(int(line.split()[1], 16) for line in status.splitlines() if "CapEff" in line)
    if not rights & ENTITLED:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to give up rights (Debian: apt-get install util-linux)")
    return ("setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs")


def document(*arguments: str, tree: Path | None = None) -> dict[str, Any]:
    done = memgauge("counters", *arguments, "--json", tree=tree)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    made: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(counters_schema()).validate(made)
    return made


def test_the_list_fits_a_pipe_and_says_what_is_missing() -> None:
    done = memgauge("counters")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("What can be counted on this machine\n")
    assert "perf: the kernel's perf events" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    for name in ("modelled", "resctrl", "net"):
        assert f"\n{name}: " in done.stdout


def test_the_document_holds_what_the_list_does() -> None:
    made = document()
    assert made["tree"] is None
    for one in made["back_ends"]:
        assert one["reason"] or one["state"] == "ready"
    names = [event["event"]["name"] for one in made["back_ends"] for event in one["events"]]
    assert len(set(names)) == len(names)
    assert all(":" in name for name in names)


def test_a_tree_may_stand_in_for_sys(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    made = document("--back-end", "perf", "--quantity", "read_bytes", tree=tree.sysfs)
    assert made["tree"] == str(tree.sysfs)
    [perf] = made["back_ends"]
    [event] = [one["event"] for one in perf["events"]]
    assert event["name"] == "perf:uncore_imc/cas_count_read/"
    assert (event["scale"], event["unit"], len(event["instances"])) == (64.0, "B", 8)
    listed = memgauge("counters", "--back-end", "perf", tree=tree.sysfs)
    assert "perf:uncore_imc/cas_count_read/: bytes read, in 8 places" in " ".join(
        listed.stdout.split()
    )


def test_events_of_cores_are_short_unless_all_are_asked_for() -> None:
    short = memgauge("counters", "--back-end", "perf").stdout
    whole = memgauge("counters", "--back-end", "perf", "--all").stdout
    assert "more (--all)" in " ".join(short.split())
    assert "perf:dtlb-store-misses" not in short
    assert "perf:dtlb-store-misses" in whole


def test_explain_says_encoding_worth_source_and_pitfalls(tmp_path: Path) -> None:
    tree = MACHINES["altra"](tmp_path)
    name = "perf:arm_dmc620/clkdiv2_rdwr,mask=0x1,match=0x0/"
    done = memgauge("counters", "explain", name, tree=tree.sysfs)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for part in (
        name,
        "reads of DRAM, 64 bytes each",
        "(config=0x1, config2=0x290)",
        "64 B, from AmpereComputing ampere-lts-kernel issue 9",
        "16 places: arm_dmc620_10008c000@cpu0",
        "beware cpumask is the CPU of the interrupt",
        "never verified on this machine and kernel",
    ):
        assert part in said, part


def test_only_memory_traffic_is_said_to_be_verifiable() -> None:
    done = memgauge("counters", "explain", "proc:cpu_time")
    assert done.returncode == 0, done.stderr
    assert "verif" not in done.stdout


def test_a_back_end_that_there_is_not_is_named_with_the_event() -> None:
    done = memgauge("counters", "explain", "prf:cycles")
    assert done.returncode == 2
    assert "event 'prf:cycles': no back end is named 'prf'; did you mean perf" in done.stderr


def test_explain_as_a_document(tmp_path: Path) -> None:
    tree = MACHINES["zen5"](tmp_path)
    done = memgauge(
        "counters", "explain", "perf:amd_umc/event=0x0a,rdwrmask=2/", "--json", tree=tree.sysfs
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    jsonschema.Draft202012Validator(counters_schema()).validate(made)
    [[found]] = [one["events"] for one in made["back_ends"]]
    assert found["event"]["quantity"] == "write_bytes"
    assert found["verdict"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "perf:cycels"], "did you mean perf:cycles"),
        (["explain", "perf:uncore_imc/x=/"], "term 1: '' is not a number"),
        (["explain", "nope:x"], "did you mean"),
        (["explain", "cycles"], "is not of the form BACKEND:EVENT"),
        (["--back-end", "nope"], "no back end has this name; choose from perf"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    done = memgauge("counters", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_tree_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = memgauge("counters", tree=tmp_path / "nowhere")
    assert done.returncode == 2
    assert "is not a readable directory" in done.stderr


def test_without_rights_the_list_says_what_is_missing(tmp_path: Path) -> None:
    tree = MACHINES["sapphire_rapids"](tmp_path)
    paranoid = Path("/proc/sys/kernel/perf_event_paranoid")
    if not paranoid.exists() or int(paranoid.read_text()) <= 0:
        pytest.skip("everybody may count everything here (perf_event_paranoid)")
    before = unprivileged()
    done = memgauge("counters", "--back-end", "perf", tree=tree.sysfs, before=before)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "✗ refused" in said or "x refused" in said
    assert "this process lacks CAP_PERFMON" in said
    assert "sysctl kernel.perf_event_paranoid=0" in said
    name = "perf:uncore_imc/cas_count_read/"
    explained = memgauge("counters", "explain", name, tree=tree.sysfs, before=before)
    assert explained.returncode == 0, explained.stderr
    assert "64 B" in explained.stdout
    refused = memgauge("counters", "explain", "auto", tree=tree.sysfs, before=before)
    assert refused.returncode == 2
    assert "lacks CAP_PERFMON" in refused.stderr


def test_help_loads_nothing_heavy_and_names_the_subcommands() -> None:
    done = memgauge("counters", "--help")
    assert done.returncode == 0
    assert "explain" in done.stdout


def test_the_api_lists_the_same() -> None:
    import memgauge as package

    assert [one.name for one in package.events()] == [
        one["name"] for one in document()["back_ends"]
    ]
