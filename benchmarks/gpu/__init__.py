"""The GPU's memory measured whole, against its peers: `benchmarks/gpu/run.sh` on a GPU machine."""
