"use strict";
// Shows /now.json, which memgauge renews once a period. Text is set as text, never as markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const made = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const SVG = "http://www.w3.org/2000/svg";

  function line(values) {
    const svg = document.createElementNS(SVG, "svg");
    const known = values.filter((value) => value !== null);
    if (known.length < 2) return svg;
    const high = Math.max(0, ...known);
    const span = high || 1;
    const last = Math.max(1, values.length - 1);
    svg.setAttribute("viewBox", `0 0 ${last} 100`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    let points = [];
    const finish = () => {
      if (points.length === 1) points.push(points[0]); // a dot between two gaps
      if (points.length > 1) {
        const drawn = document.createElementNS(SVG, "polyline");
        drawn.setAttribute("points", points.join(" "));
        svg.append(drawn);
      }
      points = [];
    };
    values.forEach((value, at) => {
      if (value === null) finish(); // a gap, never a zero
      else points.push(`${at},${98 - (96 * value) / span}`);
    });
    finish();
    return svg;
  }

  function show(now) {
    byId("time").textContent = now.time;
    byId("baseline").textContent = now.baseline;
    byId("cost").textContent = now.cost;
    byId("traffic").textContent = now.traffic;
    byId("alerts").replaceChildren(...now.alerts.map((text) => made("li", "", text)));
    byId("notes").replaceChildren(...now.notes.map((text) => made("p", "", text)));
    byId("figures").replaceChildren(
      ...now.figures.map((figure) => {
        const row = made("tr");
        const picture = made("td");
        picture.append(line(figure.history));
        const cells = [
          made("th", "", figure.title),
          made("td", "value", figure.value),
          made("td", "ratio", figure.ratio),
          picture,
        ];
        row.append(...cells);
        return row;
      }),
    );
  }

  async function renew() {
    let period = 1;
    try {
      const answer = await fetch("now.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const now = await answer.json();
      period = Math.max(0.5, now.period_s);
      show(now);
      byId("lost").textContent = "";
    } catch {
      byId("lost").textContent = "memgauge does not answer: what is shown is not current.";
    }
    setTimeout(renew, 1000 * period);
  }
  renew();
})();
