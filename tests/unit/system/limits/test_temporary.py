import resource
import subprocess
import sys
from pathlib import Path

import pytest

from memgauge.model.errors import RequestError
from memgauge.system.limits.temporary import require_temporary

LIMITED = """
import resource
from memgauge.model.errors import RequestError
from memgauge.system.limits.temporary import require_temporary
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
try:
    require_temporary("simulate", 65536)
except RequestError as error:
    print(error)
"""


def test_a_directory_with_space_is_left_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    require_temporary("simulate", 1 << 16)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "why"),
    [("/nonexistent/place", "No such file or directory"), ("/etc/passwd", "Not a directory")],
)
def test_no_directory_is_named_with_the_reason(
    place: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", place)
    with pytest.raises(RequestError) as caught:
        require_temporary("simulate", 1 << 16)
    assert f"simulate: TMPDIR={place}: no file of 64 KiB can be written there: {why}" in str(
        caught.value
    )


def test_a_limit_on_file_sizes_is_the_reason_where_it_is() -> None:
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=60, check=False
    )
    assert "File too large" in done.stdout, done.stderr
    assert "raise ulimit -f" in done.stdout
