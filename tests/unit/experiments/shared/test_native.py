"""What is recorded of the pages behind buffers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.native


def node_of(*shares: tuple[int, float]) -> Any:
    from memgauge.experiments.shared.native import backing_facts

    backings: Any = [
        SimpleNamespace(
            resident_bytes=1 << 20,
            huge_bytes=0,
            base_page_bytes=4096,
            node=node,
            share_on_node=share,
        )
        for node, share in shares
    ]
    return backing_facts(backings, "4k").get("node")


def test_buffers_on_one_node_have_that_node() -> None:
    assert node_of((1, 1.0), (1, 0.999)) == 1


@pytest.mark.parametrize("shares", [((0, 1.0), (1, 1.0)), ((0, 0.75),), ((0, 0.5), (0, 0.5))])
def test_pages_on_several_nodes_have_none(shares: tuple[tuple[int, float], ...]) -> None:
    assert node_of(*shares) is None


def test_of_a_medium_whose_pages_are_not_told_the_node_still_is() -> None:
    from memgauge.experiments.shared.native import backing_facts

    dax: Any = SimpleNamespace(
        resident_bytes=0, huge_bytes=0, base_page_bytes=4096, node=2, share_on_node=1.0
    )
    assert backing_facts([dax, dax], "auto") == {"node": 2}
    assert backing_facts([], "auto") == {}
