"""Traffic of a chosen mix in a GPU's memory, on a stand-in that counts every byte."""

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn

from memgauge._core import Gpu, GpuDriver, GpuTraffic
from memgauge.model.errors import RequestError

pytestmark = pytest.mark.native

MIXES = [(1, 0), (0, 1), (3, 1), (1, 2), (67, 33)]
TILE = 256 * 16
"""Bytes of one access of all threads of a block."""


def test_bytes_are_those_that_moved_and_every_store_is_validated(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    traffic = GpuTraffic(Gpu(GpuDriver(files.driver), 0, files.compiler), 1_500_000)
    assert traffic.bytes == 2 << 20
    traffic.prepare(MIXES)
    requested = 3_000_000  # more than there is: it wraps
    for reads, writes in MIXES:
        traffic.run(reads, writes, bytes=requested // 3, lead_in_bytes=requested // 7)
        before = files.totals()
        (thread,) = traffic.run(reads, writes, bytes=requested, iterations=2).threads
        after = files.totals()
        assert after.kernel_read_bytes - before.kernel_read_bytes == thread.read_bytes
        assert after.kernel_write_bytes - before.kernel_write_bytes == thread.write_bytes
        assert thread.read_bytes * writes == thread.write_bytes * reads
        step = max(8, reads + writes) + reads + writes
        assert 0 <= thread.read_bytes + thread.write_bytes - 2 * requested <= 2 * step * TILE
        assert len(thread.begin_ns) == 2
        (written,) = traffic.validate()
        assert (written.array, written.passed, written.elements) == ("w", True, (2 << 20) // 16)
    traffic.run(1, 1, bytes=requested, hint="no-allocate")
    traffic.corrupt(5)
    (written,) = traffic.validate()
    assert (written.passed, written.failed_elements, written.first_failed) == (False, 1, 5)


def test_a_mix_that_makes_no_sense_is_refused(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    traffic = GpuTraffic(Gpu(GpuDriver(files.driver), 0, files.compiler), 1)
    with pytest.raises(RequestError, match="cannot mix 0 reads with 0 writes"):
        traffic.run(0, 0, bytes=1)
    with pytest.raises(RequestError, match="ask for 1 to 1000"):
        traffic.prepare([(1000, 1)])
    with pytest.raises(RequestError, match="997:3 needs more memory than 1048576 bytes"):
        traffic.run(997, 3, bytes=1)
    with pytest.raises(RequestError, match="needs bytes to move"):
        traffic.run(1, 0, bytes=0)
    with pytest.raises(RequestError, match="no element 65536"):
        traffic.corrupt(1 << 16)
    traffic.close()
    with pytest.raises(RuntimeError, match="closed"):
        traffic.validate()
