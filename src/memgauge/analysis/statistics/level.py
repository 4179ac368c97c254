"""What a curve of latency over footprint shows of one level of the memory hierarchy."""

import msgspec


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """A level of the memory hierarchy as the curve shows it."""

    latency_ns: float
    latency_low_ns: float
    latency_high_ns: float
    """Least and most latency on the plateau."""
    first_bytes: int
    """Smallest footprint on the plateau."""
    fits_bytes: int
    """Largest footprint still wholly on the plateau."""
    capacity_low_bytes: int
    """Largest footprint nearer to this level than to the next."""
    capacity_high_bytes: int | None
    """Smallest footprint nearer to the next; None: the curve ends in this level."""

    @property
    def capacity_bytes(self) -> int | None:
        """The capacity, as far as the footprints resolve it; None: no end was seen."""
        return None if self.capacity_high_bytes is None else self.capacity_low_bytes
