"""Values for the mmv agent: a file that it maps, written here, one value for each instance.

The format is that of mmv(5), version 1: a header, a table of contents, then instance domains,
instances, metrics and values. The agent gives what stands in the value when it is asked.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

I32, U32, I64, U64, FLOAT, DOUBLE = range(6)
PACKED = {I32: "<i4x", U32: "<I4x", I64: "<q", U64: "<Q", FLOAT: "<f4x", DOUBLE: "<d"}
COUNTER, INSTANT = 1, 3

HEADER, CONTENT = struct.Struct("<4siQQiiii"), struct.Struct("<iiQ")
DOMAIN, INSTANCE = struct.Struct("<IIQQQ"), struct.Struct("<QIi64s")
METRIC, VALUE = struct.Struct("<64sIiiIiIQQ"), struct.Struct("<8sqQQ")
DOMAINS, INSTANCES, METRICS, VALUES = range(1, 5)


@dataclass(frozen=True)
class Metric:
    """One metric. `name` is where it stands in the name space, whatever the file is called."""

    name: str
    type: int = I64
    semantics: int = COUNTER
    units: int = 0
    """As libpcp packs them: dimensions and scales in nibbles from the highest, space first."""


class MemoryMapped:
    """A file of metrics that all have the same instances."""

    def __init__(
        self,
        path: Path,
        metrics: Sequence[Metric],
        instances: Sequence[str],
        *,
        cluster: int = 5,
        ids: Sequence[int] | None = None,
    ) -> None:
        self.path, self.metrics, self.cluster = path, list(metrics), cluster
        self.instances = list(instances)
        ids = list(range(len(instances))) if ids is None else list(ids)
        parts = self._parts(ids)
        self._first_value = self._offsets(parts)[3]
        path.write_bytes(self._header(parts) + b"".join(b"".join(part) for part in parts))

    def names(self) -> dict[str, str]:
        """Each metric's name, and what stands for it in the name space file."""
        return {one.name: f"70:{self.cluster}:{item}" for item, one in enumerate(self.metrics)}

    def set(self, metric: str, instance: str, value: float) -> None:
        """Write one value, in one go."""
        item = [one.name for one in self.metrics].index(metric)
        row = item * len(self.instances) + self.instances.index(instance)
        packed = struct.pack(PACKED[self.metrics[item].type], value)
        with self.path.open("r+b") as file:
            file.seek(self._first_value + row * VALUE.size)
            file.write(packed)

    def _parts(self, ids: Sequence[int]) -> list[list[bytes]]:
        sizes = [DOMAIN.size, INSTANCE.size, METRIC.size]
        counts = [1, len(self.instances), len(self.metrics)]
        begin = HEADER.size + 4 * CONTENT.size
        domain, instance, metric = (
            begin + sum(n * size for n, size in zip(counts[:part], sizes[:part], strict=True))
            for part in range(3)
        )
        return [
            [DOMAIN.pack(1, len(self.instances), instance, 0, 0)],
            [
                INSTANCE.pack(domain, 0, id_, name.encode())
                for id_, name in zip(ids, self.instances, strict=True)
            ],
            [
                METRIC.pack(f"m{item}".encode(), item, m.type, m.semantics, m.units, 1, 0, 0, 0)
                for item, m in enumerate(self.metrics)
            ],
            [
                VALUE.pack(bytes(8), 0, metric + m * METRIC.size, instance + i * INSTANCE.size)
                for m in range(len(self.metrics))
                for i in range(len(self.instances))
            ],
        ]

    @staticmethod
    def _offsets(parts: Sequence[Sequence[bytes]]) -> list[int]:
        begin = HEADER.size + len(parts) * CONTENT.size
        sizes = [sum(map(len, part)) for part in parts]
        return [begin + sum(sizes[:index]) for index in range(len(parts))]

    def _header(self, parts: Sequence[Sequence[bytes]]) -> bytes:
        header = HEADER.pack(b"MMV\0", 1, 1, 1, len(parts), 1, 0, self.cluster)
        contents = (
            CONTENT.pack(kind, len(part), offset)
            for kind, part, offset in zip(
                (DOMAINS, INSTANCES, METRICS, VALUES), parts, self._offsets(parts), strict=True
            )
        )
        return header + b"".join(contents)
