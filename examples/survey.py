"""Measure this machine from Python, look at one figure, and keep the page."""

import memgauge

result = memgauge.survey(budget="30s")
print(result.text())
for point in result.document()["sections"][0]["points"]:
    print(point["point"], point["sustained"])
print(result.directory / "report.html")
