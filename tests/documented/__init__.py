"""The commands and examples of README and docs, as tests run them.

`pages` finds them, `shortened` gives each a small budget, `scene` makes a directory with the files
and runs that they name, `needs` knows what some of them need that a machine may lack, and `parsed`
checks a command line without running it.
"""
