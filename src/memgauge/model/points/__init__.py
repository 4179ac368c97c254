"""What experiments record about their points: what was requested, and what each point got."""
