"""A throw-away machine with two sockets and memory-controller PMUs: see guest.sh and fake_imc."""
