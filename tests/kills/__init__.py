"""Interrupts every command at random moments and looks at what is left.

    python -m tests.kills --kills 200 --signals 100

A kill is SIGKILL: afterwards no process is left, `memgauge system --clean` removes all that is no
result, and each run directory is reported on and resumed. A signal (SIGINT, SIGTERM, SIGHUP,
SIGQUIT; to the process or to its group; once or twice) leaves nothing to clean, and closes records.
Moments are spread over the time that the command takes when it is left alone.
"""
