"""One record, one line: JSON ended by a line feed."""

import msgspec

from memgauge.model.errors import RunFileError
from memgauge.model.records import FORMAT_VERSION, AnyRecord, RunStart, Sample
from memgauge.model.text import bounded, plain, shortened

MAX_LINE_BYTES = 64 << 20
"""Beyond any record: a sample of 8192 threads with 100 iterations takes some 25 MB."""

MAX_PLAIN_LINE_BYTES = 16 << 20
"""Beyond any record but a sample: 40,000 counters that are read together."""
TOO_LONG = "longer than any record of its kind"
LONG_LINE_BYTES = 64 << 10
"""Texts of shorter lines are short enough for every report."""
MOST_TEXT = 4096
"""Characters kept of a text in a longer line: the longest path of Linux."""

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions of msgspec for bytes that do not match a type: not JSON or other fields, not UTF-8,
nested too deeply."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


class _Header(msgspec.Struct):
    """Fields that every version of the first record has."""

    format_version: int
    kind: str
    memgauge_version: str = "unknown"


_header_decoder = msgspec.json.Decoder(_Header)


def encode(record: AnyRecord) -> bytes:
    """The record's line, checked by reading it back; raises ValueError if that fails."""
    try:
        line = _encoder.encode(record)
        _decoder.decode(line)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ValueError(f"cannot be written: {error}") from error
    if len(line) >= MAX_LINE_BYTES:
        raise ValueError(f"cannot be written: it takes {len(line)} bytes")
    return line + b"\n"


class LineDecoder:
    """Decodes the lines of one stream, which begins with the version of its format."""

    def __init__(self) -> None:
        self._is_known = False

    def decode(self, line: bytes) -> AnyRecord:
        """The record of a line.

        Raises:
            RunFileError: the line has another format version.
            ValueError: the line is not a record; the message states why.
        """
        if len(line) > MAX_PLAIN_LINE_BYTES and not line.startswith(b'{"kind":"sample"'):
            raise ValueError(TOO_LONG)
        if not self._is_known or line.startswith(b'{"kind":"run"'):
            _check_version(line)
            self._is_known = True
        try:
            record: AnyRecord = _decoder.decode(line)
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError) as error:
            raise ValueError(shortened(str(error), 200)) from error
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if isinstance(record, RunStart) and record.format_version != FORMAT_VERSION:
            raise ValueError(f"changes to version {_shown(record.format_version)} of the format")
        return record if len(line) <= LONG_LINE_BYTES else with_short_texts(record)


def with_short_texts(record: AnyRecord) -> AnyRecord:
    """The record, with long texts cut and the number of omitted characters appended.

    Texts of samples are names that were declared before, and stay unchanged.
    """
    if isinstance(record, Sample):
        return record
    short = _shortened(msgspec.to_builtins(record, str_keys=True))
    made: AnyRecord = msgspec.convert(short, AnyRecord, str_keys=True)
    return made


def _shortened(value: object) -> object:
    if isinstance(value, str):
        return bounded(value, MOST_TEXT)
    if isinstance(value, list):
        return [_shortened(one) for one in value]
    if isinstance(value, dict):
        return {bounded(key, MOST_TEXT): _shortened(one) for key, one in value.items()}
    return value


def _shown(version: int) -> str:
    return shortened(str(version), 20)


def _check_version(line: bytes) -> None:
    try:
        header = _header_decoder.decode(line)
    except UNREADABLE:
        raise ValueError("is not the record that starts a run") from None
    if header.kind != RunStart.__struct_config__.tag or header.format_version < 1:
        raise ValueError("is not the record that starts a run")
    if header.format_version != FORMAT_VERSION:
        remedy = (
            "use that version of memgauge or a later one"
            if header.format_version > FORMAT_VERSION
            else "no release wrote that format version: measure again"
        )
        raise RunFileError(
            f"written by memgauge {plain(header.memgauge_version)[:40]} in format version "
            f"{_shown(header.format_version)}, and this memgauge reads version {FORMAT_VERSION}; "
            f"{remedy}"
        )
