"""Rank 0 of a cluster survey: locates ranks, starts surveys, detects ranks that fell silent.

Nothing here waits for a rank. A node is given up when it sends no message for the grace period, or
when its survey exceeds its budget by that much; results of the others remain valid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from memgauge.cluster.combined import write_manifest
from memgauge.cluster.mailbox import Mailbox
from memgauge.cluster.messages import (
    SENT_FILES,
    AnyMessage,
    Begin,
    Finished,
    Hello,
    Leave,
    Piece,
    Ready,
    Role,
    unpacked,
)
from memgauge.cluster.nodes import Node, nodes_of
from memgauge.model.storage.cluster import ClusterNode, Manifest, State, node_directory
from memgauge.model.storage.files import open_appending, open_new
from memgauge.model.text import quoted
from memgauge.model.units import format_count, format_duration

HELLO_S = 60.0
"""Seconds from the first to the last rank's first message, at most."""
MANIFEST_EVERY_S = 1.0
SAY_EVERY_S = 10.0
MOST_HEARD_PER_S = 100
"""Interval of messages from living nodes.

Handling them must not take time from rank 0's own node.
"""
OVER = frozenset({"done", "failed", "given up", "cut short"})


class Gatherer:
    """What rank 0 knows of the nodes."""

    def __init__(
        self,
        mailbox: Mailbox,
        manifest: Manifest,
        directory: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.manifest = manifest
        self._mailbox = mailbox
        self._directory = directory
        self._say = say
        self._clock = clock
        self._began_s = clock()
        self._hellos: dict[int, Hello] = {}
        self._nodes: dict[int, ClusterNode] = {}
        """Nodes by leading rank."""
        self._heard_s: dict[int, float] = {}
        self._measuring_s: dict[int, float] = {}
        """Time at which the survey of each node began, by leading rank."""
        self._ready: set[int] = set()
        self._written_s = self._said_s = self._began_s
        self._dirty = False

    @property
    def is_over(self) -> bool:
        """Whether every node's survey has ended."""
        return bool(self._nodes) and all(node.state in OVER for node in self._nodes.values())

    def hear(self, rank: int, message: AnyMessage) -> None:
        """Handle a rank's message; messages of a node that was given up are ignored."""
        self._heard_s[rank] = self._clock()
        node = self._nodes.get(rank)
        if isinstance(message, Hello):
            self._hellos[rank] = message
        elif node is None or node.state in OVER:
            return
        elif isinstance(message, Ready):
            self._ready.add(rank)
            self._change(
                rank,
                cpus=message.cpus,
                cpus_why=message.cpus_why,
                sent=not message.sees_directory,
                directory=message.directory,
            )
        elif isinstance(message, Piece):
            self._take(rank, node, message)
        elif isinstance(message, Finished):
            self._end(rank, message.state, message.why, message.exit_code, message.elapsed_s)

    def step(self) -> None:
        """Assign roles once all ranks are known, start the next surveys, give up silent nodes."""
        now_s = self._clock()
        if not self._nodes:
            late = now_s - self._began_s > HELLO_S
            if len(self._hellos) == self._mailbox.size or (late and self._hellos):
                self._assign()
            return
        for rank in [rank for rank, node in self._nodes.items() if node.state not in OVER]:
            why = self._lost(rank, now_s)
            if why is not None:
                self._end(rank, "given up", why, None, self._elapsed_s(rank, now_s))
                self._mailbox.send(rank, Leave())  # a node that is only late must end its survey
        for rank in self._next():
            self._measuring_s[rank] = self._heard_s[rank] = now_s  # ranks that wait send nothing
            self._change(rank, state="measuring")
            self._mailbox.send(rank, Begin())
        self._keep(now_s)
        if now_s - self._said_s > SAY_EVERY_S:
            self._tell(now_s)

    def close(self, why: str | None = None) -> Manifest:
        """The final manifest; nodes that have not ended are cut short for the reason `why`."""
        for rank, node in list(self._nodes.items()):
            if node.state not in OVER:
                self._change(rank, state="cut short", why=why)
        self.manifest = msgspec.structs.replace(self.manifest, ended=True)
        self._write()
        return self.manifest

    def _assign(self) -> None:
        found = nodes_of(self._hellos)
        unheard = sorted(set(range(self._mailbox.size)) - set(self._hellos))
        self._nodes = {node.ranks[0]: _waiting(node) for node in found}
        self.manifest = msgspec.structs.replace(self.manifest, unheard=unheard)
        self._write()  # nodes look for it, to know whether they see this directory
        nodes = format_count(len(found), "node")
        self._say(f"{nodes}, {format_count(self._mailbox.size, 'rank')}; into {self._directory}")
        for node in found:
            for rank in node.ranks:
                self._heard_s[rank] = self._clock()
                self._mailbox.send(rank, self._role(node, rank, len(found)))

    def _role(self, node: Node, rank: int, nodes: int) -> Role:
        manifest = self.manifest
        at_once = min(manifest.nodes_at_once or nodes, nodes)
        turns = -(-nodes // at_once)
        return Role(
            leads=rank == node.ranks[0],
            name=node.name,
            bound=node.bound,
            directory=str(self._directory),
            cluster_id=manifest.cluster_id,
            alive_every_s=min(max(1.0, nodes / MOST_HEARD_PER_S), manifest.grace_s / 3),
            give_up_s=turns * (manifest.budget_s + manifest.grace_s) + HELLO_S + manifest.grace_s,
        )

    def _next(self) -> Iterator[int]:
        states = [node.state for node in self._nodes.values()]
        free = (self.manifest.nodes_at_once or len(states)) - states.count("measuring")
        waiting = [rank for rank, node in self._nodes.items() if node.state == "waiting"]
        yield from [rank for rank in waiting if rank in self._ready][: max(0, free)]

    def _lost(self, rank: int, now_s: float) -> str | None:
        """Why the node is given up; None if it is not."""
        grace_s, node = self.manifest.grace_s, self._nodes[rank]
        began_s = self._measuring_s.get(rank)
        silent_s = now_s - self._heard_s[rank]
        if node.state == "waiting" and rank in self._ready:
            return None
        if began_s is not None and now_s - began_s > self.manifest.budget_s + grace_s:
            return (
                f"it was not done {format_duration(grace_s)} after its budget of "
                f"{format_duration(self.manifest.budget_s)}"
            )
        if silent_s > grace_s:
            return f"rank {rank}, which leads it, sent no message for {silent_s:.0f} s"
        return None

    def _end(
        self,
        rank: int,
        state: State,
        why: str | None,
        exit_code: int | None,
        elapsed_s: float | None,
    ) -> None:
        self._change(rank, state=state, why=why, exit_code=exit_code, elapsed_s=elapsed_s)
        if state != "done":
            self._say(f"{self._nodes[rank].name}: {state}: {why}")

    def _change(self, rank: int, **changes: object) -> None:
        self._nodes[rank] = msgspec.structs.replace(self._nodes[rank], **changes)
        self._dirty = True

    def _elapsed_s(self, rank: int, now_s: float) -> float | None:
        """Seconds since the node's survey began; None if it did not begin."""
        began_s = self._measuring_s.get(rank)
        return None if began_s is None else now_s - began_s

    def _take(self, rank: int, node: ClusterNode, piece: Piece) -> None:
        """Store a piece of a file from a node that does not share this directory."""
        name, data = Path(piece.file).name, unpacked(piece)
        if name not in SENT_FILES or data is None:
            self._refuse(rank, f"part of {quoted(piece.file)} arrived damaged")
            return
        path = node_directory(self._directory, node.name) / name
        opened = open_new if piece.is_first else open_appending
        try:
            with opened(path, below=self._directory) as file:
                file.write(data)
        except OSError as error:
            self._refuse(rank, f"{name} received from it cannot be written: {error.strerror}")

    def _refuse(self, rank: int, why: str) -> None:
        """End a node whose files cannot be stored; the others continue."""
        elapsed_s = self._elapsed_s(rank, self._clock())
        self._end(rank, "failed", f"{why}; measure that node again", None, elapsed_s)
        self._mailbox.send(rank, Leave())

    def _keep(self, now_s: float) -> None:
        if self._dirty and now_s - self._written_s > MANIFEST_EVERY_S:
            self._write()

    def _write(self) -> None:
        self._dirty, self._written_s = False, self._clock()
        nodes = list(self._nodes.values())
        self.manifest = msgspec.structs.replace(self.manifest, nodes=nodes)
        write_manifest(self._directory, self.manifest)

    def _tell(self, now_s: float) -> None:
        self._said_s = now_s
        states = [node.state for node in self._nodes.values()]
        over = sum(state in OVER for state in states)
        parts = [f"{over} of {format_count(len(states), 'node')} done"]
        parts.append(f"{states.count('measuring')} measuring")
        silent = {
            node.name: silence
            for rank, node in self._nodes.items()
            if node.state == "measuring" and (silence := now_s - self._heard_s[rank]) > SAY_EVERY_S
        }
        if silent:
            longest = max(silent.values())
            parts.append(f"silent for up to {longest:.0f} s: {', '.join(list(silent)[:8])}")
        self._say(", ".join(parts))


def _waiting(node: Node) -> ClusterNode:
    return ClusterNode(
        name=node.name,
        hostname=node.hostname,
        boot=node.boot,
        ranks=node.ranks,
        cpus=len(node.bound),
        cpus_why="",
    )
