"""Entry point. Nothing is imported on top: signals are taken care of before anything else."""

import sys


def main(arguments: list[str] | tuple[str, ...] | None = None) -> int:
    """Run the command line tool; returns its exit code.

    Args:
        arguments: what a caller wants done in this process, whose signals and standard streams
            stay as they are. None: the process's own command line; then both are taken over.
    """
    try:
        if arguments is None:
            from memgauge.model.startup import leave_on_signals

            leave_on_signals()
            from memgauge.commands.shared.streams import take_streams

            take_streams()
        from memgauge.commands.main import run

        code = run(arguments)
    except KeyboardInterrupt:  # before signals were taken care of
        return 130
    if arguments is None:
        import gc

        gc.freeze()  # a search for cycles while the process ends takes 0.3 s after a page
    return code


if __name__ == "__main__":
    sys.exit(main())
