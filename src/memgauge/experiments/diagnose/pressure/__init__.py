"""What presses on memory beside the program, and the references that show what it does."""
