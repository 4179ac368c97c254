(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = read("charts");
  const themes = read("themes");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 560px)");
  const drawn = new Map();

  const theme = () => {
    const chosen = structuredClone(dark.matches ? themes.dark : themes.light);
    chosen.background = "transparent";
    if (narrow.matches) {
      chosen.legend.columns = 1;
      chosen.legend.rowPadding = 3;
    }
    return chosen;
  };

  const draw = async (figure) => {
    const chart = charts[Number(figure.dataset.chart)];
    const place = figure.querySelector(".live");
    figure.classList.add("drawn");
    try {
      const view = await window.vegaEmbed(place, chart, {
        actions: false,
        ast: true,
        config: theme(),
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
  narrow.addEventListener("change", drawAll);
  drawAll();
})();
