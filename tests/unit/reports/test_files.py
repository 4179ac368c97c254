"""Writing what was rendered."""

import os
from pathlib import Path

import pytest
from tests.unprivileged import directory_of_nobody

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.reports.files import check_writable, write_pieces, write_text


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write_text(path, "first")
    write_text(path, "second")
    assert path.read_text() == "second"
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]


def test_a_failure_half_way_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text(path, "first")

    def pieces() -> object:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pieces(path, pieces())  # type: ignore[arg-type]
    assert path.read_text() == "first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(SystemFailure, match="a FIFO exists there; free space or choose another"):
        write_text(path, "page")
    with pytest.raises(RequestError, match="a FIFO exists there; choose another path"):
        check_writable(path)
    assert path.is_fifo()


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_an_open_descriptor_is_written_to(form: str) -> None:
    reading, writing = os.pipe()
    path = Path(form.format(writing))
    check_writable(path)
    write_text(path, "page")
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"page"
    with pytest.raises(SystemFailure, match="Bad file descriptor"):
        write_text(path, "page")


def test_standard_output_is_written_to(capfd: pytest.CaptureFixture[str]) -> None:
    write_text(Path("/dev/stdout"), "page")
    write_text(Path("/dev/stderr"), "words")
    write_text(Path("/dev/null"), "nothing")
    assert capfd.readouterr() == ("page", "words")


def test_a_directory_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match="cannot be written"):
        write_text(tmp_path, "page")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told_before(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    check_writable(tmp_path / "new" / "folder" / "page.html")
    check_writable(tmp_path / "file")
    check_writable(Path("/dev/null"))
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == [
        *("file", "new", "new/folder")
    ]
    with pytest.raises(RequestError, match="is a directory; name a file in it"):
        check_writable(tmp_path)
    with pytest.raises(RequestError, match="cannot be written: Not a directory; choose another"):
        check_writable(tmp_path / "file" / "page.html")


def test_a_directory_of_others_is_reported_before() -> None:
    with directory_of_nobody() as place:
        for mode in (0o500, 0o000):
            place.chmod(mode)
            with pytest.raises(RequestError, match="cannot be written: Permission denied; choose"):
                check_writable(place / "page.html")
        place.chmod(0o700)
        check_writable(place / "page.html")
