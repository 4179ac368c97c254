"""The distributed mini-app: a 3-D FFT cut into pencils, over MPI, profiled on each of its ranks.

The only part of memgauge that loads NumPy, mpi4py and CuPy, and each of them only when it runs.
"""
