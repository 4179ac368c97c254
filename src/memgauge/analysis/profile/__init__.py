"""The analysis of a profile: one timeline, its phases and its regions."""
