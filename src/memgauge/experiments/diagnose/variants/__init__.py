"""Other ways to start the program: pages, threads, CPUs, nodes, and settings of the machine."""
