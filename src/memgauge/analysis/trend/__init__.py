"""Many runs of one machine or of a fleet over time: what changed, when, by how much, and where."""
