(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = read("charts");
  const themes = read("themes");
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();
  const CELL_PX = 12;
  const DIGIT_PX = 6.6;
  const LABEL_PX = 180;
  const LEGEND_PX = 90;
  const TRACK_AXIS_PX = 108;
  let printing = false;

  const theme = (chart, width) => {
    const chosen = structuredClone(dark.matches && !printing ? themes.dark : themes.light);
    chosen.background = "transparent";
    chosen.axis.labelLimit = chart.usermeta.columns ? LABEL_PX : Math.min(LABEL_PX, 0.32 * width);
    return chosen;
  };

  // A legend does not wrap by itself: as many columns as the longest name allows. It begins where
  // lying bars do, beside their names.
  const fitted = (chart, width) => {
    const copy = structuredClone(chart);
    const beside = Math.min(LABEL_PX, 0.32 * width, 7 * (chart.usermeta.longestBar ?? 0));
    const room = width - Math.max(60, beside);
    const columns = Math.max(1, Math.floor(room / (7 * chart.usermeta.longestName + 44)));
    const walk = (node) => {
      if (node === null || typeof node !== "object") return;
      if (node.legend?.gradientLength) node.legend.gradientLength = Math.min(240, width - 120);
      else if (node.legend) Object.assign(node.legend, { columns, labelLimit: width - 100 });
      Object.values(node).forEach(walk);
    };
    copy.layer?.forEach((layer) => walk(layer.encoding));
    // Linked tracks take no width from their container.
    copy.vconcat?.forEach((panel) => {
      const before = panel.width;
      panel.width = Math.max(80, width - TRACK_AXIS_PX);
      panel.layer?.forEach((layer) => {
        walk(layer.encoding);
        for (const one of layer.transform ?? []) {
          one.filter = one.filter?.replace(`* ${before} `, `* ${panel.width} `);
        }
      });
    });
    return copy;
  };

  // A heat map keeps its digits apart: where the page is too narrow for that, it scrolls sideways.
  const leastWidth = (chart) => {
    const { columns, longestDigits, longestName } = chart.usermeta;
    if (!columns) return 0;
    const names = Math.min(LABEL_PX, 7 * longestName) + 40;
    return names + columns * (longestDigits * DIGIT_PX + CELL_PX);
  };

  const draw = async (figure) => {
    const place = figure.querySelector(".live");
    const chart = charts[Number(figure.dataset.chart)];
    const width = figure.clientWidth;
    figure.dataset.state = "drawing";
    place.style.minWidth = `${leastWidth(chart)}px`;
    try {
      const view = await window.vegaEmbed(place, fitted(chart, width), {
        actions: false,
        ast: true,
        config: theme(chart, width),
        mode: "vega-lite",
        renderer: chart.vconcat ? "canvas" : "svg",
        tooltip: { theme: "custom" },
      });
      views.get(figure)?.finalize();
      views.set(figure, view);
      place.style.minHeight = "";
      figure.dataset.state = "drawn";
    } catch (error) {
      figure.dataset.state = "failed";
      place.textContent = "This chart could not be drawn; its table holds the figures.";
      console.error(`chart ${figure.id} could not be drawn`, error);
    }
  };

  const waiting = new Set(figures);
  const drawOnce = (figure) => (waiting.delete(figure) ? draw(figure) : undefined);
  const redraw = () => figures.filter((figure) => !waiting.has(figure)).forEach(draw);
  const whenIdle = window.requestIdleCallback ?? ((then) => window.setTimeout(then, 50));

  // What is near the reader first; the rest one by one, so that paper and searches have all.
  const drawRest = () => {
    const [next] = waiting;
    if (next) whenIdle(() => Promise.resolve(drawOnce(next)).then(drawRest), { timeout: 500 });
  };
  const near = new IntersectionObserver(
    (entries) => entries.filter((one) => one.isIntersecting).forEach((one) => drawOnce(one.target)),
    { rootMargin: "50% 0px" },
  );
  // Room is kept before a chart is drawn, so that what is read does not move.
  for (const figure of figures) {
    const { height, usermeta } = charts[Number(figure.dataset.chart)];
    const room = usermeta.height ?? height + LEGEND_PX;
    figure.querySelector(".live").style.minHeight = `${room}px`;
    near.observe(figure);
  }
  whenIdle(drawRest, { timeout: 500 });

  dark.addEventListener("change", redraw);
  [640, 980].forEach((width) =>
    window.matchMedia(`(max-width: ${width}px)`).addEventListener("change", redraw),
  );

  // Paper is white and has no folds.
  const opened = new Set();
  window.addEventListener("beforeprint", () => {
    printing = true;
    document.querySelectorAll("details:not([open])").forEach((one) => {
      one.open = true;
      opened.add(one);
    });
    if (dark.matches) redraw();
    [...waiting].forEach(drawOnce);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    opened.forEach((one) => (one.open = false));
    opened.clear();
    if (dark.matches) redraw();
  });
})();
