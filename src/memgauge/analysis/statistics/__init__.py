"""Statistics of samples and curves: they know no record and no experiment."""
