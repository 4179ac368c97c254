"""GPUs and their libraries, found without and started with NVIDIA's driver."""
