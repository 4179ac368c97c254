"""The analysis of the mini-app `fft3d`: its ranks, phases and scaling."""
