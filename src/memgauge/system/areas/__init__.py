"""Memory that is made or taken for a run: files, devices, pools."""
