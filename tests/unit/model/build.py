"""A small whole run, made by hand: two bandwidth points and a latency point."""

from memgauge.model.records import (
    FORMAT_VERSION,
    AnyRecord,
    ArrayCheck,
    Clock,
    Environment,
    Point,
    RunEnd,
    RunStart,
    Sample,
    ThreadSample,
    Validation,
    Warning,
)
from memgauge.model.system import Cache, Cpu, Node, System


def system(machine_id: str = "a1b2") -> System:
    return System(
        machine_id=machine_id,
        architecture="x86_64",
        cpu_model="Example CPU",
        kernel="Linux 6.1",
        virtualisation=None,
        cpus=[Cpu(cpu=n, core=n, socket=0, node=0, sibling=0) for n in range(2)],
        allowed_cpus=[0, 1],
        caches=[
            Cache(
                level=3, type="unified", bytes=1 << 25, line_bytes=64, ways=16, sets=None, cpus=[0]
            )
        ],
        nodes=[Node(node=0, cpus=[0, 1], bytes=1 << 34, distances={0: 10})],
        memory_bytes=1 << 34,
        available_bytes=1 << 33,
        base_page_bytes=4096,
        thp="madvise",
        huge_pages=[],
        governor=None,
        isas=["avx2"],
    )


def start(*, resumed: bool = False, machine_id: str = "a1b2") -> RunStart:
    return RunStart(
        format_version=FORMAT_VERSION,
        memgauge_version="0.1.0",
        run_id="r1",
        started_at="2026-01-02T03:04:05Z",
        experiments=["stream", "latency"],
        parameters={"stream": {"threads": "1,2", "kernel": None}},
        budget_s=60.0,
        precision=0.01,
        clock=Clock(
            source="tsc",
            ns_per_tick=0.4,
            cost_ns=9.6,
            resolution_ns=0.4,
            calibration_error_ppm=0.3,
            epoch_raw_ns=12345,
        ),
        system=system(machine_id),
        software={"python": "3.11"},
        resumed=resumed,
    )


def triad(threads: int = 2, huge_share: float = 1.0) -> Point:
    return Point(
        point=f"stream/triad/{threads}",
        experiment="stream",
        quantity="bandwidth",
        requested={"kernel": "triad", "threads": threads},
        actual={"cpus": "0-1", "huge_share": huge_share, "tuned": False, "node": None},
        bytes_counted=24_000,
        bytes_moved=32_000,
        threads=threads,
    )


def dram() -> Point:
    return Point(
        point="latency/dram",
        experiment="latency",
        quantity="latency",
        requested={"bytes": 1 << 28},
        actual={"pages": "thp"},
        accesses=1000,
    )


def sample(point: Point, round_: int, begin_ns: int = 1000) -> Sample:
    stamps = [begin_ns, begin_ns + 500]
    return Sample(
        point=point.point,
        round=round_,
        threads=[
            ThreadSample(cpu=n, begin_ns=stamps, end_ns=[s + 400 + n for s in stamps])
            for n in range(point.threads)
        ],
        pingpong_ns=27.5 if point.threads > 1 else None,
    )


def records(rounds: int = 3) -> list[AnyRecord]:
    points = [triad(1), triad(2), dram()]
    samples = [
        sample(point, round_, 1000 + 10_000 * round_)
        for round_ in range(rounds)
        for point in points
    ]
    return [
        start(),
        *points,
        *samples,
        Environment(
            at_ns=99,
            interval_s=1.0,
            steal_s=None,
            others_s=0.1,
            load_1min=0.5,
            frequency_khz=None,
        ),
        Validation(
            experiment="stream",
            subject="double, 2 threads",
            checks=[
                ArrayCheck(
                    array="a",
                    average_relative_error=0.0,
                    epsilon=1e-13,
                    elements=1000,
                    failed_elements=0,
                    first_failed=-1,
                    passed=True,
                )
            ],
        ),
        Warning(code="steal", message="time was stolen", experiment="stream"),
        RunEnd(status="complete", elapsed_s=12.5, rounds=rounds),
    ]
