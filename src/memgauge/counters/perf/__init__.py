"""Back end `perf`: the kernel's perf events."""
