"""A program's own accesses through simulated caches, by way of valgrind."""
