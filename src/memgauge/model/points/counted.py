"""What points of kernels record that are repeated while counters are read around them."""

from __future__ import annotations

from memgauge.model.points.facts import Facts


class CountedRequested(Facts, frozen=True, kw_only=True):
    """What names the kernel."""

    kernel: str = ""
    variant: str = ""
    element: str = ""
    access: str = ""
    store: str = ""

    @property
    def label(self) -> str:
        """What distinguishes it, such as `add, standard, float`."""
        named = (self.kernel, self.variant, self.element, self.access, self.store)
        return ", ".join(word for word in named if word not in {"", "double"})


class CountedActual(Facts, frozen=True, kw_only=True):
    """Bytes of one repetition that the kernel reads and writes by itself."""

    elements: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    evadable_bytes: int | None = None
    """Of lines written and not read, which ordinary stores read first unless the hardware sees that
    they are written whole."""
    store: str = ""
    """non-temporal: no line is read before it is written."""
