// The columns of the table, each with its distribution per class.

const FIRST_COLUMNS = 12;
const ORDERS = {
  relation: ["relation to the target", (column) => -(column.relation ?? -1)],
  missing: ["missing values", (column) => -column.missing],
  outliers: ["outliers", (column) => -column.outliers],
  table: ["order in the table", () => 0],
  name: ["name", null],
};

function columnsPart() {
  const { columns } = RECORD.exploration;
  if (!columns.length) return null;
  const state = { search: "", order: columns.some((column) => isNumber(column.relation)) ? "relation" : "table",
    shown: FIRST_COLUMNS };
  const grid = h("div", { class: "grid columns" });
  const more = h("button", { type: "button", class: "more",
    on: { click: () => { state.shown += 4 * FIRST_COLUMNS; show(); } } });
  const show = () => {
    const matching = columns.filter((column) => column.name.toLowerCase().includes(state.search.trim().toLowerCase()));
    const key = ORDERS[state.order][1];
    if (key) matching.sort((a, b) => key(a) - key(b));
    else matching.sort((a, b) => a.name.localeCompare(b.name));
    clear(grid).append(...matching.slice(0, state.shown).map(columnFigure));
    if (!matching.length) grid.append(h("p", { class: "note" }, "No column matches."));
    more.hidden = matching.length <= state.shown;
    more.textContent = `Show more columns (${matching.length - state.shown} remaining)`;
  };
  show();
  const grouped = columnGroups();
  return sub("Distribution of each column", grouped.length > 1
    ? "The distribution of each class adds up to 100 %, so that rare and frequent classes can be compared."
    : null,
  grouped.length > 1 && grouped.length <= 3 && keys(grouped.map((name) => [hueOf(name), shortened(name, 40)])),
  columns.length > 4 && h("div", { class: "controls" },
    searchField("Find a column", (value) => { state.search = value; show(); }),
    chooser("Sort by", Object.entries(ORDERS).map(([name, [title]]) => [name, title]), state.order,
      (value) => { state.order = value; show(); })),
  grid, more);
}

const columnGroups = () => [...new Set(RECORD.exploration.columns.flatMap((column) => Object.keys(column.histogram?.counts || {})))];

function columnSummary(column) {
  const share = column.missing / (RECORD.exploration.n_rows || 1);
  return [
    column.kind,
    column.kind !== "number" && counted(column.distinct, "distinct value"),
    column.missing > 0 && `${percent(share, share < 0.1 ? 1 : 0)} missing`,
    column.outliers > 0 && counted(column.outliers, "outlier"),
    isNumber(column.relation) && `relation ${decimal(column.relation, 2)}`,
    !column.used && "not used as a feature",
  ].filter(Boolean).join(" · ");
}

function columnFigure(column) {
  const { histogram } = column;
  const summary = columnSummary(column);
  const quantiles = column.quantiles && column.quantiles.every(isNumber)
    ? ` Quartiles ${column.quantiles.map((value) => num(value)).join(", ")}.` : "";
  const spec = { title: column.name, subtitle: summary, label: `${column.name}: ${summary}.${quantiles}`, height: 150 };
  const groups = Object.keys(histogram?.counts || {});
  if (["identifier", "constant",
    "text"].includes(column.kind) || !groups.length
    || !Object.values(histogram.counts).some((counts) => sum(counts) > 0)) {
    return h("figure", { class: "chart" }, h("figcaption", {}, h("h3", { title: column.name }, column.name),
      h("p", {}, summary)),
      h("p", { class: "note" },
        column.kind === "identifier" ? "Every value is different." : column.kind === "constant" ? "All values are equal."
        : column.kind === "text" ? "Free text." : "There is no distribution to draw."));
  }
  spec.format = column.kind === "date" ? yearLabel : num;
  if (groups.length > 3) return classBands(spec, histogram, groups);
  return histogram.edges ? outlines(spec, histogram, groups) : levelBars(spec, histogram, groups);
}

const sharesOf = (counts) => {
  const total = sum(counts) || 1;
  return counts.map((count) => count / total);
};

// A number: one outline per class. The height is the density, because the outer bins may be wider than the others.
function outlines(spec, { edges, counts }, groups) {
  const shares = groups.map((group) => sharesOf(counts[group]));
  const widths = edges.slice(1).map((edge, i) => edge - edges[i]);
  const usual = [...widths].sort((a, b) => a - b)[Math.floor(widths.length / 2)] || 1;
  const heights = shares.map((each) => each.map((share, i) => (widths[i] > 0 ? (share * usual) / widths[i] : share)));
  return chart({
    ...spec,
    x: { domain: extent(edges), ticks: spec.format === yearLabel ? yearTicks(...extent(edges), 2) : undefined },
    y: { domain: [0, Math.max(...heights.flat())], hidden: true },
    marks: ({ add, x, y, bottom }) => {
      const points = [];
      groups.forEach((group, g) => {
        const hue = groups.length > 1 ? hueOf(group) : "blue";
        const outline = heights[g].flatMap((height, i) => [[x(edges[i]), y(height)], [x(edges[i + 1]), y(height)]]);
        const closed = [[x(edges[0]), bottom], ...outline, [x(edges[edges.length - 1]), bottom]];
        add("path", { class: `band f-${hue}`, d: pathThrough(closed) });
        add("path", { class: `line c-${hue}`, "stroke-width": 1.6, d: pathThrough(closed) });
        shares[g].forEach((share, i) => points.push({ x: (x(edges[i]) + x(edges[i + 1])) / 2, y: y(heights[g][i]),
          words: `${spec.format(edges[i])} to ${spec.format(edges[i + 1])}\n${groups.length > 1 ? `${group}: ` : ""}${percent(share)}, ${counted(counts[group][i], "row")}` }));
      });
      return points;
    },
  });
}

// A category: one bar per level and class.
function levelBars(spec, { levels, counts, ordered }, groups) {
  const shares = groups.map((group) => sharesOf(counts[group]));
  const most = Math.max(...shares.flat()) || 1;
  const thick = groups.length > 2 ? 5 : groups.length > 1 ? 7 : 11;
  const line = thick * groups.length + 7;
  const shown = ordered ? levels : levels.slice(0, 8); // the most frequent levels, or all levels in their order
  return figureOf({
    ...spec,
    height: Math.max(shown.length * line + 4, 60),
    draw: (svg, width) => {
      const side = Math.min(Math.ceil(Math.max(...shown.map((level) => textWidth(level)))) + 8, width * 0.45);
      return shown.flatMap((level, i) => {
        const top = i * line + 3;
        svg.append(s("text", { x: side - 6, y: top + (line - 7) / 2 + 4, "text-anchor": "end" },
          fitted(level, side - 6), s("title", {}, level)));
        return groups.map((group, g) => {
          const wide = (shares[g][i] / most) * (width - side - 8);
          svg.append(s("rect", { class: `f-${groups.length > 1 ? hueOf(group) : "blue"}`, x: side, y: top + g * thick,
            width: Math.max(wide, 0.8), height: thick - 1 }));
          return { x: side + wide, y: top + (g + 0.5) * thick,
            words: `${level}\n${groups.length > 1 ? `${group}: ` : ""}${percent(shares[g][i])}, ${counted(counts[group][i], "row")}` };
        });
      });
    },
  });
}

// Many classes: one row of cells per class, darker where the density is higher.
function classBands(spec, { edges, levels, counts }, groups) {
  const shares = groups.map((group) => sharesOf(counts[group]));
  const line = groups.length > 12 ? 9 : 13;
  // If lines are narrow, only every second or third class is labelled.
  const every = Math.ceil(12 / line);
  const bins = shares[0].length;
  return figureOf({
    ...spec,
    height: groups.length * line + 24,
    draw: (svg, width) => {
      const side = Math.min(Math.ceil(Math.max(...groups.map((group) => textWidth(group)))) + 8, width * 0.35);
      const cell = (width - side) / bins;
      const bottom = groups.length * line;
      const ends = edges ? [spec.format(edges[0]), spec.format(edges[edges.length - 1])] : [levels[0], levels[levels.length - 1]];
      svg.append(s("text", { x: side, y: bottom + 15 }, fitted(ends[0], (width - side) / 2 - 6)),
        s("text", { x: width, y: bottom + 15, "text-anchor": "end" }, fitted(ends[1], (width - side) / 2 - 6)));
      return groups.flatMap((group, g) => {
        const most = Math.max(...shares[g]) || 1;
        if (g % every === 0) svg.append(s("text", { x: side - 6, y: (g + 0.5) * line + 4, "text-anchor": "end" },
          fitted(group, side - 8)));
        return shares[g].map((share, i) => {
          svg.append(s("rect", { class: "cell", "stroke-width": 0.5, x: side + i * cell, y: g * line, width: cell,
            height: line, vars: { "--v": (share / most).toFixed(3) } }));
          const where = edges ? `${num(edges[i])} to ${num(edges[i + 1])}` : levels[i];
          return { x: side + (i + 0.5) * cell, y: (g + 0.5) * line,
            words: `${group}\n${where}: ${percent(share)}, ${counted(counts[group][i], "row")}` };
        });
      });
    },
  });
}
