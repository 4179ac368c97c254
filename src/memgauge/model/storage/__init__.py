"""Reading and writing what a run leaves: files, directories, records."""
