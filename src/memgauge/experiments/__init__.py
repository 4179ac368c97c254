"""One file per experiment: the question, its parameters, its points and one native call each."""
