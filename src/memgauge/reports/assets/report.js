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
  const CARD_PX = 20;
  let printing = false;

  const theme = (chart, width) => {
    const chosen = structuredClone(dark.matches && !printing ? themes.dark : themes.light);
    chosen.background = "transparent";
    chosen.axis.labelLimit = chart.usermeta.columns ? LABEL_PX : Math.min(LABEL_PX, 0.32 * width);
    return chosen;
  };

  const namesWidth = (chart) => Math.min(LABEL_PX, 7 * chart.usermeta.longestName) + 40;

  // A legend does not wrap by itself: as many columns as the longest name allows. It begins where
  // lying bars do, beside their names.
  const fitted = (chart, width) => {
    const copy = structuredClone(chart);
    const beside = Math.min(LABEL_PX, 0.32 * width, 7 * (chart.usermeta.longestBar ?? 0));
    const room = width - Math.max(60, beside);
    const columns = Math.max(1, Math.floor(room / (7 * chart.usermeta.longestName + 44)));
    const scale = Math.max(80, Math.min(240, width - 2 * CARD_PX - namesWidth(chart)));
    const walk = (node) => {
      if (node === null || typeof node !== "object") return;
      if (node.legend?.gradientLength) node.legend.gradientLength = scale;
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

  // A heat map keeps its digits apart. On a phone all of it is shown, without them and with some of
  // the names of many columns; what was not measured stays a dash.
  const PHONE_PX = 480;
  const NAMED_COLUMNS = 8;
  const isPhone = (width) => width < PHONE_PX;
  const withoutDigits = (chart) => {
    chart.layer = chart.layer.filter(({ mark }) => !["cell-light", "cell-dark"].includes(mark.style));
    if (chart.usermeta.columns > NAMED_COLUMNS) {
      chart.layer.forEach(({ encoding }) =>
        Object.assign(encoding.x.axis, { labelOverlap: "parity", labelSeparation: 4 }),
      );
    }
    return chart;
  };
  const leastWidth = (chart) => {
    const { columns, longestDigits } = chart.usermeta;
    if (!columns) return 0;
    return namesWidth(chart) + columns * (longestDigits * DIGIT_PX + CELL_PX);
  };

  const draw = async (figure) => {
    const place = figure.querySelector(".live");
    const chart = charts[Number(figure.dataset.chart)];
    const width = figure.clientWidth;
    figure.dataset.state = "drawing";
    const least = leastWidth(chart);
    const whole = least > width && isPhone(width);
    const shown = fitted(chart, width);
    place.style.minWidth = whole ? "" : `${least}px`;
    try {
      const view = await window.vegaEmbed(place, whole ? withoutDigits(shown) : shown, {
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
      linked(figure);
    } catch (error) {
      figure.dataset.state = "failed";
      place.textContent = "This chart could not be drawn; its table holds the figures.";
      console.error(`chart ${figure.id} could not be drawn`, error);
    }
  };

  const nameOf = (element) =>
    element.textContent.trim().replace(/[^A-Za-z0-9.]+/g, "-").replace(/^-|-$/g, "").toLowerCase();
  const save = (url, name) => {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  };
  const asText = (text) => `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`;
  const quoted = (value) => {
    const text = String(value ?? "");
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  const button = (label, title, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.title = title;
    made.addEventListener("click", act);
    return made;
  };

  // The figures of a chart: every place of every series, once.
  const pointsOf = (chart) => {
    const rows = Object.values(chart.datasets ?? {}).flat();
    const known = new Map();
    for (const row of rows) {
      if (row.series === undefined || row.y === undefined) continue;
      const point = [row.series, row.x, row.y, row.low, row.high];
      known.set(JSON.stringify(point), point);
    }
    return [["series", "x", "y", "low", "high"], ...known.values()];
  };
  const linked = (figure) => {
    if (figure.querySelector(".links")) return;
    const name = nameOf(figure.querySelector("h3"));
    const chart = charts[Number(figure.dataset.chart)];
    const links = document.createElement("p");
    links.className = "links";
    const picture = (form) => async () =>
      save(await views.get(figure).view.toImageURL(form, form === "png" ? 2 : 1), `${name}.${form}`);
    links.append(
      button("PNG", "save the picture", picture("png")),
      button("SVG", "save the picture", picture("svg")),
    );
    const points = pointsOf(chart);
    if (points.length > 1) {
      links.append(
        button("CSV", "save its figures", () => save(asText(csv(points)), `${name}.csv`)),
      );
    }
    figure.append(links);
  };

  // Tables: a click on a head sorts by it, once more the other way, a third time as it was.
  const valueOf = (cell) =>
    cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  const compared = (one, other) =>
    typeof one === "number" && typeof other === "number"
      ? one - other
      : typeof one === "number"
        ? -1
        : typeof other === "number"
          ? 1
          : one.localeCompare(other, undefined, { numeric: true });
  const sortable = (table) => {
    const body = table.tBodies[0];
    const usual = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    if (usual.length < 2) return;
    heads.forEach((head, at) => {
      const made = document.createElement("button");
      made.type = "button";
      made.className = "sort";
      made.append(...head.childNodes);
      head.append(made);
      made.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        const next = { ascending: "descending", descending: null }[before ?? ""];
        const order = next === undefined ? "ascending" : next;
        if (order) head.setAttribute("aria-sort", order);
        const sign = order === "descending" ? -1 : 1;
        const sorted = order
          ? usual.toSorted((a, b) => sign * compared(valueOf(a.cells[at]), valueOf(b.cells[at])))
          : usual;
        body.append(...sorted);
      });
    });
  };
  const rowsOf = (table) => {
    const spread = (cell) => cell.dataset.low !== undefined;
    const rows = [...table.tBodies[0].rows];
    const wide = [...table.tHead.rows[0].cells].map((_, at) =>
      rows.some((row) => spread(row.cells[at])),
    );
    const head = [...table.tHead.rows[0].cells].flatMap((cell, at) => {
      const title = cell.textContent.trim();
      return wide[at] ? [title, `${title} low`, `${title} high`] : [title];
    });
    const cells = (row) =>
      [...row.cells].flatMap((cell, at) => {
        const missing = cell.querySelector(".missing");
        const value = missing ? "" : (cell.dataset.value ?? cell.textContent.trim());
        return wide[at] ? [value, cell.dataset.low, cell.dataset.high] : [value];
      });
    return [head, ...rows.map(cells)];
  };
  const copied = (table) => {
    const made = button("Copy as CSV", "copy the table, with the ends of its intervals", async () => {
      const text = csv(rowsOf(table));
      try {
        await navigator.clipboard.writeText(text);
        made.textContent = "Copied";
        window.setTimeout(() => (made.textContent = "Copy as CSV"), 1500);
      } catch {
        save(asText(text), "table.csv");
      }
    });
    const links = document.createElement("p");
    links.className = "links";
    links.append(made);
    table.closest(".scroll").after(links);
  };
  document.querySelectorAll(".scroll > table").forEach((table) => {
    sortable(table);
    copied(table);
  });

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
