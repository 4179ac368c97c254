"""Back end `nvml`: figures of NVIDIA GPUs by their management library."""
