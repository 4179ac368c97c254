"""Owners of what runs make."""

from memgauge.system.owner import Owner

DEAD = Owner(pid=2**22 + 1, boot_id="another boot", start_ticks=1)
