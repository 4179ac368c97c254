"""One record, one line: JSON ended by a line feed, and the upgrade of older versions."""

from collections.abc import Callable
from typing import Any

import msgspec

from memgauge.model.errors import RunFileError
from memgauge.model.records import FORMAT_VERSION, AnyRecord, RunStart
from memgauge.model.text import plain

MAX_LINE_BYTES = 64 << 20
"""Beyond any record: a sample of 8192 threads with 100 iterations takes some 25 MB."""

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

UPGRADES: dict[int, Upgrade] = {}
"""From a version to the next: what to do with one decoded record. Filled when version 2 comes."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


class _Header(msgspec.Struct):
    """What every version of the first record has."""

    format_version: int
    kind: str
    memgauge_version: str = "unknown"


_header_decoder = msgspec.json.Decoder(_Header)


def encode(record: AnyRecord) -> bytes:
    """The record's line, proven to read back; raises ValueError when it does not."""
    try:
        line = _encoder.encode(record)
        _decoder.decode(line)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ValueError(f"cannot be written: {error}") from error
    if len(line) >= MAX_LINE_BYTES:
        raise ValueError(f"cannot be written: it takes {len(line)} bytes")
    return line + b"\n"


class LineDecoder:
    """Decodes the lines of one stream, in the version its last `run` record told."""

    def __init__(self) -> None:
        self._version: int | None = None

    def decode(self, line: bytes) -> AnyRecord:
        """The record of a line.

        Raises:
            RunFileError: of a newer version, whatever the line holds otherwise.
            ValueError: no record; the message says why.
        """
        if self._version is None or line.startswith(b'{"kind":"run"'):
            self._version = _version(line)
        try:
            record = self._record(line, self._version)
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError) as error:
            raise ValueError(plain(str(error))) from error
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if isinstance(record, RunStart) and record.format_version != FORMAT_VERSION:
            raise ValueError(f"changes to version {record.format_version} of the format")
        return record

    def _record(self, line: bytes, version: int) -> AnyRecord:
        if version == FORMAT_VERSION:
            return _decoder.decode(line)
        raw = msgspec.json.decode(line, type=dict[str, Any])
        for step in range(version, FORMAT_VERSION):
            raw = UPGRADES[step](raw)
        if raw.get("kind") == RunStart.__struct_config__.tag:
            raw["format_version"] = FORMAT_VERSION
        record: AnyRecord = msgspec.convert(raw, AnyRecord, str_keys=True)
        return record


def _version(line: bytes) -> int:
    try:
        header = _header_decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise ValueError("is not the record that starts a run") from None
    if header.kind != RunStart.__struct_config__.tag or header.format_version < 1:
        raise ValueError("is not the record that starts a run")
    if header.format_version > FORMAT_VERSION:
        raise RunFileError(
            f"written by memgauge {plain(header.memgauge_version)[:40]} in version "
            f"{header.format_version:.6g} of the format, and this memgauge reads up to "
            f"{FORMAT_VERSION}; read it with that memgauge or a later one"
        )
    return header.format_version
