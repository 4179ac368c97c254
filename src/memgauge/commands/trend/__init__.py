"""`memgauge trend RUN...|DIR|STORE`: what changed over many runs, when, by how much, and where."""

from memgauge.commands.trend.command import command

__all__ = ["command"]
