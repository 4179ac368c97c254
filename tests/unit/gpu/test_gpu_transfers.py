"""Transfers to, from and between GPUs, on the stand-in of the driver."""

import signal
from typing import Any

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn, StandInFiles

from memgauge._core import (
    Gpu,
    GpuDriver,
    GpuTransfers,
    Memory,
    ModelledSource,
    Reader,
    Slice,
    ThreadSlice,
    clock_now_ns,
)
from memgauge.model.errors import RequestError, SystemFailure

BYTES = 1 << 20
SCRIPTED: dict[str, Any] = {
    "clock": "scripted",
    "copy_ns": 2000,
    "to_device_ns_per_byte": 0.25,
    "to_host_ns_per_byte": 0.5,
    "peer_ns_per_byte": 0.125,
}
NS_PER_BYTE = {
    "host-to-device": 0.25,
    "device-to-host": 0.5,
    "to-peer": 0.125,
    "from-peer": 0.125,
}
ALLOCATING = (
    "cuMemAlloc_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuEventCreate",
    "cuStreamCreate",
    "cuModuleLoadData",
)


def opened(files: StandInFiles, index: int = 0) -> Gpu:
    return Gpu(GpuDriver(files.driver), index, files.compiler)


def durations(thread: ThreadSlice) -> list[int]:
    return [end - begin for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)]


def takes(direction: str, size: int, repeats: int = 1) -> object:
    """What the script says; times come as floats of milliseconds, stamps as whole nanoseconds."""
    return pytest.approx(repeats * (2000 + size * NS_PER_BYTE[direction]), abs=2.5, rel=1e-6)


def check_back_to_back(taken: Slice) -> None:
    for thread in taken.threads:
        assert thread.begin_ns[1:] == thread.end_ns[:-1]


@pytest.mark.parametrize("size", [1, 64, 1001, BYTES])
@pytest.mark.parametrize("direction", ["host-to-device", "device-to-host"])
def test_a_transfer_takes_what_the_gpus_events_say(
    gpu_stand_in: GpuStandIn, direction: str, size: int
) -> None:
    files = gpu_stand_in.files(**SCRIPTED)
    transfers = GpuTransfers(opened(files), BYTES)
    before = files.totals()
    taken = transfers.run(direction, size, iterations=5)
    assert len(taken.threads) == 1
    assert durations(taken.threads[0]) == [takes(direction, size)] * 5
    check_back_to_back(taken)
    moved = files.totals()
    there, back = (
        moved.from_host_bytes - before.from_host_bytes,
        moved.to_host_bytes - before.to_host_bytes,
    )
    assert sorted((there, back)) == [0, 5 * size]
    assert not transfers.host_was_slower
    assert (there > 0) == (direction == "host-to-device")


def test_both_directions_begin_together_and_have_stamps_of_their_own(
    gpu_stand_in: GpuStandIn,
) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files(**SCRIPTED)), BYTES)
    taken = transfers.run("both", 4096, iterations=3)
    there, back = taken.threads
    assert durations(there) == [takes("host-to-device", 4096)] * 3
    assert durations(back) == [takes("device-to-host", 4096)] * 3
    assert there.begin_ns[0] == pytest.approx(back.begin_ns[0], abs=2)


def test_copies_wait_until_the_host_has_queued_many(gpu_stand_in: GpuStandIn) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files()), BYTES)
    transfers.run("host-to-device", 64)
    before = clock_now_ns()
    transfers.start("host-to-device", 64, iterations=5000)  # at 4.5 us each: more than 20 ms
    taken = transfers.finish()
    assert taken.threads[0].begin_ns[0] - before > 19_000_000


def test_several_copies_share_a_stamp(gpu_stand_in: GpuStandIn) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files(**SCRIPTED)), BYTES)
    taken = transfers.run("device-to-host", 64, iterations=2, repeats=100)
    assert durations(taken.threads[0]) == [takes("device-to-host", 64, repeats=100)] * 2


def test_what_arrives_is_what_was_sent(gpu_stand_in: GpuStandIn) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files()), BYTES)
    assert transfers.validate() == []
    transfers.run("host-to-device", 1001)
    (checked,) = transfers.validate()
    assert (checked.array, checked.elements, checked.passed) == ("d", 126, True)
    assert transfers.validate() == []  # looked at, and overwritten
    transfers.run("both", BYTES, iterations=2)
    assert [(one.array, one.elements, one.passed) for one in transfers.validate()] == [
        ("d", BYTES // 8, True),
        ("h", BYTES // 8, True),
    ]


@pytest.mark.parametrize("direction", ["host-to-device", "device-to-host"])
def test_one_wrong_byte_is_found(gpu_stand_in: GpuStandIn, direction: str) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files()), BYTES)
    transfers.run(direction, 4096)
    transfers.corrupt(direction, 77)
    (checked,) = transfers.validate()
    assert not checked.passed
    assert (checked.failed_elements, checked.first_failed) == (1, 77)
    assert checked.average_relative_error == pytest.approx(1 / 512)


def test_a_copy_that_moves_nothing_is_found(gpu_stand_in: GpuStandIn) -> None:
    """What is compared was not there before the copy."""
    transfers = GpuTransfers(opened(gpu_stand_in.files()), BYTES)
    transfers.run("host-to-device", 64)
    transfers.validate()
    transfers.run("host-to-device", 4096)
    for element in range(8, 512):
        transfers.corrupt("host-to-device", element)
    (checked,) = transfers.validate()
    assert checked.failed_elements == 504


@pytest.mark.parametrize("direction", ["host-to-device", "device-to-host", "both"])
def test_pageable_memory_is_timed_by_the_host(gpu_stand_in: GpuStandIn, direction: str) -> None:
    files = gpu_stand_in.files(**SCRIPTED)
    transfers = GpuTransfers(opened(files), BYTES, host="pageable")
    taken = transfers.run(direction, 4096, iterations=4, repeats=2)
    assert len(taken.threads) == (2 if direction == "both" else 1)
    for thread in taken.threads:
        assert len(thread.begin_ns) == 4
        assert all(took > 0 for took in durations(thread))
        edges = [ns for stamp in zip(thread.begin_ns, thread.end_ns, strict=True) for ns in stamp]
        assert edges == sorted(edges)
    assert all(one.passed for one in transfers.validate())
    assert files.calls("cuMemHostAlloc") + files.calls("cuMemHostRegister_v2") == 0
    assert len(transfers.backing()) == 2


def test_memory_of_a_node_is_ours_and_registered(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    ordinary = GpuTransfers(opened(files), BYTES, memory=Memory())
    assert (files.calls("cuMemHostAlloc"), files.calls("cuMemHostRegister_v2")) == (2, 0)
    assert ordinary.backing() == []
    placed = GpuTransfers(opened(files), BYTES, memory=Memory(nodes=[0]))
    assert (files.calls("cuMemHostAlloc"), files.calls("cuMemHostRegister_v2")) == (2, 2)
    assert [backing.resident_bytes >= BYTES for backing in placed.backing()] == [True, True]
    placed.run("both", BYTES)
    assert all(one.passed for one in placed.validate())
    placed.close()
    ordinary.close()
    assert (files.calls("cuMemFreeHost"), files.calls("cuMemHostUnregister")) == (2, 2)


def test_closing_gives_the_memory_back(gpu_stand_in: GpuStandIn) -> None:
    gpu = opened(gpu_stand_in.files())
    before = gpu.free_bytes
    transfers = GpuTransfers(gpu, BYTES)
    assert gpu.free_bytes == before - 2 * BYTES
    transfers.close()
    assert gpu.free_bytes == before
    with pytest.raises(RuntimeError, match="closed"):
        transfers.run("both", 64)


@pytest.mark.parametrize("reach", [True, False])
def test_two_gpus_transfer_directly_where_they_can(gpu_stand_in: GpuStandIn, reach: bool) -> None:
    files = gpu_stand_in.files(devices=2, peers=reach, **SCRIPTED)
    driver = GpuDriver(files.driver)
    own, other = (Gpu(driver, index, files.compiler) for index in (0, 1))
    transfers = GpuTransfers(own, BYTES, peer=other)
    assert transfers.direct is reach
    for direction in ("to-peer", "from-peer"):
        taken = transfers.run(direction, 4096, iterations=2)
        assert durations(taken.threads[0]) == [takes(direction, 4096)] * 2
    assert len(transfers.run("both-peers", BYTES).threads) == 2
    assert [(one.array, one.passed) for one in transfers.validate()] == [("p", True), ("d", True)]
    assert files.totals(0).to_peer_bytes == files.totals(1).from_peer_bytes > 0
    assert transfers.backing() == []


def test_what_was_started_is_finished_once(gpu_stand_in: GpuStandIn) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files(**SCRIPTED)), BYTES)
    with pytest.raises(RequestError, match="no transfers were started"):
        transfers.finish()
    transfers.start("both", 4096, iterations=3)
    for refused in (
        lambda: transfers.start("both", 64),
        lambda: transfers.run("both", 64),
        transfers.validate,
    ):
        with pytest.raises(RequestError, match="finish them first"):
            refused()
    there, back = transfers.finish().threads
    assert durations(there) == [takes("host-to-device", 4096)] * 3
    assert durations(back) == [takes("device-to-host", 4096)] * 3
    assert all(one.passed for one in transfers.validate())


def test_nothing_is_allocated_once_it_has_run(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    transfers = GpuTransfers(opened(files), BYTES)
    transfers.run("both", 4096, iterations=10)
    before = [files.calls(call) for call in ALLOCATING]
    transfers.run("both", 64, iterations=10, repeats=3)
    transfers.run("device-to-host", BYTES, iterations=2)
    assert [files.calls(call) for call in ALLOCATING] == before


def test_counters_are_read_around_the_transfers(gpu_stand_in: GpuStandIn) -> None:
    gpu = opened(gpu_stand_in.files())
    gpu.read_with(Reader([ModelledSource()]))
    for host in ("pinned", "pageable"):
        taken = GpuTransfers(gpu, BYTES, host=host).run("both", BYTES, iterations=2)
        assert gpu.readings is not None
        before, after = gpu.readings
        assert len(before.values) == len(after.values) == 2
        error_ns = int(gpu.clock_error_ns or 0) + 1
        assert before.end_ns <= min(thread.begin_ns[0] for thread in taken.threads) + error_ns
        assert after.begin_ns >= max(thread.end_ns[-1] for thread in taken.threads) - error_ns


@pytest.mark.parametrize("host", ["pinned", "pageable"])
def test_an_interrupt_ends_transfers_and_leaves_them_usable(
    gpu_stand_in: GpuStandIn, host: str
) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files()), 16 * BYTES, host=host)

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            transfers.run("both", 16 * BYTES, iterations=100)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
    assert len(transfers.run("both", 64, iterations=3).threads) == 2
    assert all(one.passed for one in transfers.validate())


@pytest.mark.parametrize(
    ("direction", "size", "reason"),
    [
        ("sideways", 64, "unknown direction of transfers 'sideways'; choose among host-to-device"),
        ("to-peer", 64, "cannot transfer to-peer: these transfers are between a GPU and the host"),
        ("both", BYTES + 1, "the buffers hold 1 to 1048576"),
        ("both", 0, "cannot transfer 0 bytes at once"),
    ],
)
def test_what_makes_no_sense_is_refused(
    gpu_stand_in: GpuStandIn, direction: str, size: int, reason: str
) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files()), BYTES)
    with pytest.raises(RequestError, match=reason):
        transfers.run(direction, size)


def test_pageable_memory_cannot_be_queued(gpu_stand_in: GpuStandIn) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files()), BYTES, host="pageable")
    with pytest.raises(RequestError, match="in the calling thread; take pinned memory"):
        transfers.start("host-to-device", 64)


def test_memory_that_is_short_is_named(gpu_stand_in: GpuStandIn) -> None:
    small = opened(gpu_stand_in.files(memory=BYTES))
    free = small.free_bytes
    with pytest.raises(RequestError, match=r"cuda:0: .* of device memory.* are free"):
        GpuTransfers(small, BYTES)
    assert small.free_bytes == free
    unpinned = opened(gpu_stand_in.files(fail={"cuMemHostAlloc": 2}))
    with pytest.raises(RequestError, match=r"cannot pin 1048576 bytes.* or take pageable memory"):
        GpuTransfers(unpinned, BYTES)
    refused = opened(gpu_stand_in.files(fail={"cuMemHostRegister_v2": 801}))
    with pytest.raises(RequestError, match="cuMemHostRegister: operation not supported"):
        GpuTransfers(refused, BYTES, memory=Memory(nodes=[0]))


def test_a_gpu_that_fails_says_so_in_one_line(gpu_stand_in: GpuStandIn) -> None:
    transfers = GpuTransfers(opened(gpu_stand_in.files(fail={"cuMemcpyDtoHAsync_v2": 700})), BYTES)
    with pytest.raises(SystemFailure, match="cuda:0: cuMemcpyDtoHAsync: an illegal memory access"):
        transfers.run("device-to-host", 64)


def test_a_gpu_is_no_peer_of_itself(gpu_stand_in: GpuStandIn) -> None:
    gpu = opened(gpu_stand_in.files())
    with pytest.raises(RequestError, match="no other GPU than itself"):
        GpuTransfers(gpu, BYTES, peer=gpu)
