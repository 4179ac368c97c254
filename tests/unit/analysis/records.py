"""Records made by hand for the tests of the analysis."""

from collections.abc import Sequence

from memgauge.model.records import Point, Sample, ThreadSample


def bandwidth_point(name: str = "p", **changes: object) -> Point:
    fields: dict[str, object] = {
        "point": name,
        "experiment": "stream",
        "quantity": "bandwidth",
        "requested": {},
        "actual": {},
        "bytes_counted": 1_000_000,
        "bytes_moved": 1_500_000,
    }
    return Point(**(fields | changes))  # type: ignore[arg-type]


def latency_point(name: str = "l", **changes: object) -> Point:
    fields: dict[str, object] = {
        "point": name,
        "experiment": "latency",
        "quantity": "latency",
        "requested": {},
        "actual": {},
        "accesses": 1_000_000,
    }
    return Point(**(fields | changes))  # type: ignore[arg-type]


def sample_of(
    point: Point,
    value: float,
    round_: int = 0,
    *,
    pingpong_ns: float | None = None,
    cycles_per_ns: float | None = None,
    switches: int = 0,
    faults: int = 0,
) -> Sample:
    """One iteration whose value is `value` in GB/s or ns, to the rounding of whole ns."""
    elapsed = point.bytes_counted / value if point.bytes_counted else point.accesses * value
    threads = [
        ThreadSample(
            cpu=cpu,
            begin_ns=[1000],
            end_ns=[1000 + round(elapsed)],
            involuntary_switches=switches,
            page_faults=faults,
        )
        for cpu in range(point.threads)
    ]
    return Sample(
        point=point.point,
        round=round_,
        threads=threads,
        pingpong_ns=pingpong_ns,
        cycles_per_ns=cycles_per_ns,
    )


def samples_of(point: Point, values: Sequence[float]) -> list[Sample]:
    return [sample_of(point, value, round_) for round_, value in enumerate(values)]
