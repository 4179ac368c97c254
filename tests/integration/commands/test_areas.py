"""`--memory file:` and `shm:` from the command line: mounts, kills, refusals, and cleaning."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.huge_pages import free_huge_pages
from tests.integration.command import command, memgauge
from tests.integration.live_run import wait_for_samples
from tests.integration.mounts import mounted

from memgauge.model.storage.run_file import Run, read_run

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("state")]

MIB = 1 << 20
STREAM = ["stream", "--threads", "1", "--kernel", "copy", "--array-bytes", "4MiB"]
SHORT = ["--budget", "1s"]
LONG = ["--budget", "60s", "--precision", "0.0001"]


def measured(tmp_path: Path, memory: str, *more: str) -> Run:
    output = tmp_path / "run"
    done = memgauge(*STREAM, *SHORT, "--memory", memory, "--output", output, *more)
    assert done.returncode == 0, done.stderr
    run = read_run(output)
    assert all(check.passed for one in run.validations for check in one.checks)
    return run


def refused(memory: str, *more: str) -> str:
    done = memgauge(*STREAM, *SHORT, "--memory", memory, *more)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    return done.stderr.splitlines()[-1]


def pages_of(run: Run) -> set[object]:
    return {point.actual["pages"] for point in run.points.values()}


def test_arrays_in_a_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    where = tmp_path / "here"
    where.mkdir()
    for memory in (f"file:{where}", f"file:{where}/arrays"):
        run = measured(tmp_path, memory)
        assert {point.requested["memory"] for point in run.points.values()} == {memory}
        assert list(where.iterdir()) == []
        for file in (tmp_path / "run").iterdir():
            file.unlink()


def test_tmpfs_gives_the_pages_of_its_mount(tmp_path: Path) -> None:
    if "advise" not in Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled").read_text():
        pytest.skip("the kernel has no transparent huge pages in tmpfs")
    with mounted("tmpfs", "size=64m,huge=always", tmp_path / "huge") as place:
        assert pages_of(measured(tmp_path, f"file:{place}", "--pages", "thp")) == {"thp"}
        remount = ["mount", "-o", "remount,huge=never", str(place)]
        subprocess.run(remount, check=True)
        assert "this tmpfs is mounted without them" in refused(f"file:{place}", "--pages", "thp")


def test_a_full_file_system_is_refused_with_what_it_has(tmp_path: Path) -> None:
    with mounted("tmpfs", "size=8m", tmp_path / "small") as place:
        (place / "users").write_bytes(b"precious")
        line = refused(f"file:{place}/arrays")
        assert f"available in file:{place}" in line
        assert (place / "users").read_bytes() == b"precious"
        assert [path.name for path in place.iterdir()] == ["users"]


def test_hugetlbfs_gives_its_pages(tmp_path: Path) -> None:
    with free_huge_pages(16), mounted("hugetlbfs", "pagesize=2M", tmp_path / "huge") as place:
        for pages in ("auto", "2m"):
            run = measured(tmp_path, f"file:{place}", "--pages", pages)
            assert {point.actual["huge_share"] for point in run.points.values()} == {1.0}
            for file in (tmp_path / "run").iterdir():
                file.unlink()
        assert "all its pages are of 2 MiB" in refused(f"file:{place}", "--pages", "4k")


def test_a_file_of_others_is_refused_and_untouched(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_bytes(b"precious")
    for more in ([], ["--keep"], ["--overwrite"], ["--keep", "--overwrite"]):
        assert "memgauge did not create it" in refused(f"file:{users}", *more)
    assert users.read_bytes() == b"precious"


def test_kept_files_are_used_again_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    done = memgauge("system", "--clean")
    assert (done.returncode, done.stdout) == (0, "no leftovers of killed runs were found\n")
    measured(tmp_path / "1", f"file:{path}", "--keep")
    number, size = path.stat().st_ino, path.stat().st_size
    assert size >= 3 * 4 * MIB
    measured(tmp_path / "2", f"file:{path}", "--keep")
    assert (path.stat().st_ino, path.stat().st_size) == (number, size)
    done = memgauge("system", "--clean")
    assert done.stdout == f"{path}: kept on purpose; to remove it: rm {path}\n"
    assert path.exists()


@contextmanager
def running(tmp_path: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A run that uses `arrays`, once it measures."""
    output = tmp_path / "long"
    where = ["--memory", f"file:{tmp_path}/arrays", "--output", str(output)]
    with subprocess.Popen(
        command(*STREAM, *LONG, *where, *more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as program:
        try:
            wait_for_samples(program, output)
            yield program
        finally:
            program.kill()


def names(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_without_keep_nothing_is_left_whatever_ends_the_run(
    number: signal.Signals, tmp_path: Path
) -> None:
    with running(tmp_path) as program:
        assert names(tmp_path) == {"long"}
        program.send_signal(number)
        program.wait(30)
    assert names(tmp_path) <= {"long"}
    assert memgauge("system", "--clean").stdout == "no leftovers of killed runs were found\n"


def test_a_signal_leaves_a_file_that_is_to_be_kept(tmp_path: Path) -> None:
    with running(tmp_path, "--keep") as program:
        program.send_signal(signal.SIGTERM)
        program.wait(30)
        assert program.returncode == 128 + signal.SIGTERM
    assert "kept on purpose" in memgauge("system", "--clean").stdout
    assert "arrays" in names(tmp_path)


def test_kill_leaves_what_is_cleaned_but_not_while_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    with running(tmp_path, "--keep") as program:
        assert "is in use by another run" in refused(f"file:{path}", "--keep")
        assert memgauge("system", "--clean").stdout == f"{path}: in use by a run; left unchanged\n"
        program.kill()
        program.wait(30)
    assert path.exists()
    done = memgauge("system", "--clean")
    assert done.returncode == 0
    assert done.stdout.startswith(f"{path}: removed, ")
    assert not path.exists()


def test_cleaning_prints_no_json() -> None:
    done = memgauge("system", "--clean", "--json")
    assert done.returncode == 2
    assert "--clean prints lines of text" in done.stderr
