"""`memgauge watch` as users run it: in a pipe, with a record, and served."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.native
COMMAND = (sys.executable, "-m", "memgauge", "watch", "--period", "200ms")


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_pipe_gets_lines_and_the_record_a_report(tmp_path: Path) -> None:
    done = run("--for", "300ms", "--output", "kept", "--pid", str(os.getpid()), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) >= 2
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in lines)
    assert "CPU use" in lines[-1]
    assert "kept" in done.stderr
    report = subprocess.run(
        [sys.executable, "-m", "memgauge", "report", "kept"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Memory over time" in report.stdout


def test_metrics_and_page_are_served_until_it_ends(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    with subprocess.Popen(
        [*COMMAND, "--listen", "127.0.0.1:0", "--no-probe"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        url = ""
        while not url:
            found = re.search(r"page: (\S+)", process.stderr.readline())
            url = found[1] if found else ""
        process.stdout.readline()
        bodies = {}
        for path in ("", "watch.js", "watch.css"):
            with urllib.request.urlopen(url + path, timeout=30) as answer:  # noqa: S310
                bodies[path] = answer.read().decode()
        for path in ("metrics", "now.json"):
            for _ in range(100):  # until the first sample has come through the pipe
                try:
                    with urllib.request.urlopen(url + path, timeout=30) as answer:  # noqa: S310
                        bodies[path] = answer.read().decode()
                    break
                except urllib.error.HTTPError:
                    process.stdout.readline()
        process.terminate()
        process.communicate()
    assert "memgauge_watch_page_faults_total" in bodies["metrics"]
    assert '"figures"' in bodies["now.json"]
    assert "<h1>memgauge watch" in bodies[""]


def test_an_address_that_is_taken_is_one_line(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--listen", f"127.0.0.1:{port}", cwd=tmp_path)
    assert done.returncode == 2
    assert f"127.0.0.1:{port}: cannot be listened at: Address already in use" in done.stderr
    assert len(done.stderr.splitlines()) == 1
