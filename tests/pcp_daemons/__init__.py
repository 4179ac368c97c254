"""Real daemons of Performance Co-Pilot for tests, with private directories and without root.

`install.installation()` finds PCP, if there is one, `pmcd.Pmcd` starts and ends a daemon,
`mmv.MemoryMapped` serves any values under any names through its mmv agent, and
`perfevent.perfevent_daemon` counts the kernel's PMUs, from a tree that stands in for `/sys`.
"""
