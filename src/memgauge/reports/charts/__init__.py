"""Charts as SVG, PNG and Vega-Lite."""
