"""One renderer per format over one report type."""
