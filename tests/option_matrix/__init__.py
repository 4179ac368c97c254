"""Every experiment with every value of its options, and every pair of values of two options.

    python -m tests.option_matrix stream --share all

runs the combinations of one experiment in its own process and prints what became of each, a line of
JSON for each. `options` derives the values from the experiment's parameters, `pairs` chooses the
combinations, `small_machine` makes caches small so that each takes a moment, and `refusals` lists
what a combination may be refused for.
"""
