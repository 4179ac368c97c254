"""What counters say beside software, and how far they are trusted."""
