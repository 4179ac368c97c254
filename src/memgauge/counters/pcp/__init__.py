"""Back end `pcp`: counters read by Performance Co-Pilot."""
