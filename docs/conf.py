"""How `make docs` builds the site from these pages, without a network."""

project = "memgauge"
author = "The memgauge developers"
copyright = author  # noqa: A001 - the name that Sphinx reads
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns = ["README.md", "results", "man"]
html_theme = "furo"
html_title = "memgauge"
html_static_path: list[str] = []
html_extra_path = ["../build/docs/extra"]  # the pages of the gallery
myst_heading_anchors = 4
autodoc_typehints = "none"  # the options have their own
suppress_warnings = ["myst.header"]  # pages begin with a title and a block of commands
