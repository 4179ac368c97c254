import pytest

from memgauge.model.errors import RequestError
from memgauge.model.memory import FORMS, MemoryPlacement, on_gpu, parse_placement


@pytest.mark.parametrize(
    "text",
    [
        "dram",
        "node:3",
        "interleave:0,2",
        "interleave:0=3,1=1",
        "file:/a:b",
        "devdax:/dev/dax0.0",
        "pmemobj:/p",
        "shm:",
        "cuda:0",
        "cuda:15",
    ],
)
def test_every_kind_reads_back_from_its_text(text: str) -> None:
    placement = parse_placement(text, "--memory")
    assert str(placement) == text
    assert placement.kind in FORMS


def test_a_gpus_memory_is_neither_a_nodes_nor_opened_as_files_are() -> None:
    placement = parse_placement("cuda:2", "--memory")
    assert placement == on_gpu(2) == MemoryPlacement("cuda", device=2)
    assert placement.is_gpu
    assert not placement.is_area
    assert placement.node is None
    assert placement.nodes == ()
    others = ("dram", "node:0", "shm:", "file:/x")
    assert not any(parse_placement(text, "--memory").is_gpu for text in others)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cuda", "malformed; write cuda:N"),
        ("cuda:", "malformed; write cuda:N"),
        ("cuda:x", "GPUs are named by number, starting at 0; write cuda:0"),
        ("cuda:-1", "GPUs are named by number, starting at 0; write cuda:0"),
        ("cuda:0,1", "GPUs are named by number, starting at 0; write cuda:0"),
        ("cuda:٣", "GPUs are named by number, starting at 0; write cuda:0"),
        ("cuda:99999", "is not a whole number from 0 to 1023"),
        ("cuda:MIG-9c1b", "set CUDA_VISIBLE_DEVICES to that identifier and write cuda:0"),
        ("cuda:GPU-9c1b", "set CUDA_VISIBLE_DEVICES to that identifier and write cuda:0"),
        ("cuda:0:1", "for a MIG instance set CUDA_VISIBLE_DEVICES=MIG-UUID"),
        ("gpu:0", "is not a kind of memory; choose from dram"),
    ],
)
def test_a_gpu_is_named_by_its_number(text: str, said: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_placement(text, "--memory")
    assert str(refused.value).startswith("--memory ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
