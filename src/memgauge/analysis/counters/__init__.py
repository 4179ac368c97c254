"""What counters show beside software, and how far they are trusted."""
