"""Runs of `loaded` and `mix` made by formula: latencies as of a queue, mixes in a straight line."""

import random
from collections.abc import Sequence

import msgspec
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of
from tests.unit.analysis.runs import FAR_NS, NEAR_NS, start, system

from memgauge.model.records import AnyRecord, Point, Sample, ThreadSample
from memgauge.model.run import Run, run_of
from memgauge.model.system import Cpu, System

DELAYS = (0, 10, 30, 60, 80, 120, 200, 700, 20_000)
IDLE_NS = 120.0
CLOCK_NS = 10
"""Of `runs.start`."""


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """One load of a run."""

    read_share: float = 1.0
    store: str | None = None
    order: str = "sequential"
    generators: int = 7
    peak_gb_per_s: float = 50.0
    bends: bool = True
    delays: tuple[int, ...] = DELAYS
    issued: float | None = None

    @property
    def name(self) -> str:
        percent = f"{100 * self.read_share:.1f}".removesuffix(".0")
        stores = f"-{self.store}" if self.store else ""
        return f"loaded/{percent}r{stores}/{self.order}/{self.generators}g"

    @property
    def moved_per_byte(self) -> float:
        return 2 - self.read_share if self.store == "temporal" else 1.0

    def at(self, delay: int) -> tuple[float, float]:
        """GB/s and ns at a delay."""
        load = 0.96 / (1 + delay / 50)
        return self.peak_gb_per_s * load, IDLE_NS * (1 + (0.1 * load / (1 - load)) * self.bends)


def cores(count: int) -> System:
    cpus = [Cpu(cpu=n, core=n, socket=0, node=0, sibling=0) for n in range(count)]
    return system(cpus=cpus, allowed_cpus=list(range(count)))


def pair(traffic: Traffic, delay: int) -> tuple[Point, Point]:
    requested = {
        "read_share": traffic.read_share,
        "store": traffic.store,
        "order": traffic.order,
        "generators": traffic.generators,
        "delay": delay,
        "memory": "local",
        "pages": "auto",
    }
    issued = traffic.read_share if traffic.issued is None else traffic.issued
    actual = {
        "cpus": f"0-{traffic.generators}",
        "generator_cpus": f"1-{traffic.generators}" if traffic.generators > 1 else "1",
        "delay_ns": delay * 1.5,
        "read_share_issued": issued,
        "pages": "thp",
    }
    name = f"{traffic.name}/d{delay}"
    common: dict[str, object] = {"experiment": "loaded", "requested": requested, "actual": actual}
    latency = latency_point(name, accesses=1500, **common)
    follower = bandwidth_point(
        f"{name}/traffic",
        bytes_counted=64_000,
        bytes_moved=round(64_000 * traffic.moved_per_byte),
        threads=traffic.generators,
        work="counted",
        measured_with=name,
        **common,
    )
    return latency, follower


def visit(  # noqa: PLR0917
    points: tuple[Point, Point],
    gb_per_s: float,
    ns: float,
    round_: int,
    rng: random.Random,
    pingpong_ns: float | None,
) -> list[Sample]:
    latency, follower = points
    elapsed_ns = 1_000_000
    each = round(gb_per_s * elapsed_ns / follower.threads)
    share = follower.requested["read_share"]
    assert isinstance(share, float)
    loads = sorted(round(ns * rng.choice((0.9, 0.95, 1.0, 3.0)) + CLOCK_NS) for _ in range(200))
    histogram = [(value, loads.count(value)) for value in sorted(set(loads))]
    probe = sample_of(latency, ns, round_, pingpong_ns=pingpong_ns)
    threads = [
        ThreadSample(
            cpu=1 + rank,
            begin_ns=[1000],
            end_ns=[1000 + elapsed_ns],
            read_bytes=round(each * share),
            write_bytes=each - round(each * share),
        )
        for rank in range(follower.threads)
    ]
    return [
        msgspec.structs.replace(probe, load_ns=histogram),
        Sample(point=follower.point, round=round_, threads=threads, pingpong_ns=pingpong_ns),
    ]


def loaded_run(
    traffics: Sequence[Traffic],
    *,
    rounds: int = 40,
    far_share: float | None = None,
    noise: float = 0.004,
    of: System | None = None,
    seed: int = 3,
) -> Run:
    """All delays of all loads in turn; where the team is far, twice the bandwidth."""
    made = loaded_records(
        traffics, rounds=rounds, far_share=far_share, noise=noise, of=of, seed=seed
    )
    return run_of(made)


def loaded_records(
    traffics: Sequence[Traffic],
    *,
    rounds: int = 40,
    far_share: float | None = None,
    noise: float = 0.004,
    of: System | None = None,
    seed: int = 3,
) -> list[AnyRecord]:
    """The records of such a run."""
    rng = random.Random(seed)
    visits = [
        (traffic, delay, pair(traffic, delay)) for traffic in traffics for delay in traffic.delays
    ]
    records: list[AnyRecord] = [start(of or cores(8))]
    records += [point for _, _, points in visits for point in points]
    for round_ in range(rounds):
        for traffic, delay, points in visits:
            far = far_share is not None and rng.random() < far_share
            gb_per_s, ns = traffic.at(delay)
            ping = None if far_share is None else rng.gauss(FAR_NS if far else NEAR_NS, 0.5)
            records += visit(
                points,
                gb_per_s * (1 + far) * rng.gauss(1, noise),
                ns * rng.gauss(1, noise),
                round_,
                rng,
                ping,
            )
    return records


def mix_run(
    shares: Sequence[float],
    speeds: dict[str, float],
    *,
    rounds: int = 60,
    threads: Sequence[int] = (1, 4),
    issued_off: float = 0.0,
) -> Run:
    """Mixes whose bandwidth falls in a straight line from 40 GB/s to that of all writes."""
    rng = random.Random(4)
    records: list[AnyRecord] = [start(cores(8))]
    points: list[tuple[Point, float]] = []
    for team in threads:
        for share in shares:
            for store in [None] if share == 1 else speeds:
                percent = f"{100 * share:.1f}".removesuffix(".0")
                suffix = "" if store is None else f"-{store}"
                allocate = 2 - share if store == "temporal" else 1.0
                point = bandwidth_point(
                    f"mix/{percent}r{suffix}/sequential/{team}t",
                    experiment="mix",
                    threads=team,
                    requested={
                        "read_share": share,
                        "store": store,
                        "order": "sequential",
                        "threads": team,
                    },
                    actual={
                        "cpus": f"0-{team - 1}" if team > 1 else "0",
                        "read_share_issued": share - issued_off * (0 < share < 1),
                    },
                    bytes_counted=64_000_000,
                    bytes_moved=round(64_000_000 * allocate),
                )
                end = 40.0 if store is None else speeds[store]
                points.append((point, team * (share * 40.0 + (1 - share) * end)))
    records += [point for point, _ in points]
    for round_ in range(rounds):
        records += [sample_of(p, value * rng.gauss(1, 0.003), round_) for p, value in points]
    return run_of(records)
