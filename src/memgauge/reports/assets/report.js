(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = read("charts");
  const themes = read("themes");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Map();

  const theme = (width) => {
    const chosen = structuredClone(dark.matches ? themes.dark : themes.light);
    chosen.background = "transparent";
    chosen.axis.labelLimit = Math.min(180, 0.32 * width);
    return chosen;
  };

  // A legend does not wrap by itself: as many columns as the longest name allows.
  const fitted = (chart, width) => {
    const copy = structuredClone(chart);
    const columns = Math.max(1, Math.floor((width - 60) / (7 * chart.usermeta.longestName + 44)));
    const walk = (node) => {
      if (node === null || typeof node !== "object") return;
      if (node.legend) Object.assign(node.legend, { columns, labelLimit: width - 100 });
      Object.values(node).forEach(walk);
    };
    copy.layer.forEach((layer) => walk(layer.encoding));
    return copy;
  };

  const draw = async (figure) => {
    const place = figure.querySelector(".live");
    figure.classList.add("drawn");
    const chart = fitted(charts[Number(figure.dataset.chart)], figure.clientWidth);
    try {
      const view = await window.vegaEmbed(place, chart, {
        actions: false,
        ast: true,
        config: theme(figure.clientWidth),
        mode: "vega-lite",
        renderer: "svg",
        tooltip: { theme: "custom" },
      });
      drawn.get(figure)?.finalize();
      drawn.set(figure, view);
      figure.dataset.state = "drawn";
    } catch (error) {
      figure.classList.remove("drawn");
      figure.dataset.state = "failed";
      console.error(`chart ${figure.id} could not be drawn`, error);
    }
  };

  const drawAll = () => document.querySelectorAll("figure[data-chart]").forEach(draw);
  dark.addEventListener("change", drawAll);
  [640, 980].forEach((width) =>
    window.matchMedia(`(max-width: ${width}px)`).addEventListener("change", drawAll),
  );
  drawAll();
})();
