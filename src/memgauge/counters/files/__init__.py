"""Back ends whose events are numbers in small files of the kernel."""
