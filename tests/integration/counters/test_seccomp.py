"""What `memgauge system` and `counters` say behind a filter such as those of containers."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import pytest
from tests.integration.command import memgauge

FILTER = Path(__file__).with_name("filtered.py")
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


@pytest.mark.native
@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
def test_a_filter_that_refuses_perf_events_is_named(number: int) -> None:
    if not PARANOID.exists() or (os.geteuid() and int(PARANOID.read_text()) > 2):
        pytest.skip("no counters of this process are allowed without a filter")
    before = [sys.executable, str(FILTER), str(number)]
    found = memgauge("system", "--json", before=before)
    assert found.returncode == 0, found.stderr
    listed = {one["name"]: one for one in json.loads(found.stdout)["capabilities"]}
    counters = listed["performance counters"]
    assert not counters["available"]
    assert f"refuses perf_event_open ({errno.errorcode[number]})" in counters["detail"]
    assert "seccomp=unconfined" in counters["remedy"]
