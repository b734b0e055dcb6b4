// Predictions of a number against the truth, and what is left over.

function regressionSection() {
  if (RECORD.task !== "regression") return null;
  const methods = DONE.filter((method) => method.test && (method.test.scatter?.length || method.test.residuals));
  if (!methods.length) return null;
  const start = methods.includes(CHOSEN) ? CHOSEN : methods[0];
  const figures = h("div", { class: "grid" });
  const show = (name) => {
    const method = methods.find((candidate) => candidate.name === name);
    const pairs = (method.test.scatter || []).filter(([truth, prediction]) => known(truth) && known(prediction));
    clear(figures).append(...[
      pairs.length && truthChart(method, pairs),
      pairs.length && leftOverChart(method, pairs),
      method.test.residuals && residualChart(method),
    ].filter(Boolean));
  };
  show(start.name);
  return section("test", "Test rows", "How close do the predictions come?",
    `The ${whole(start.test.n_rows)} test rows of the first split; of many, a sample is drawn.${WEIGHTED ? " The histogram of residuals counts rows by their weights." : ""}`,
    methods.length > 1 && h("div", { class: "controls" },
      chooser("Method", methods.map((method) => [method.name, method.title]), start.name, show)),
    figures, trustFacts());
}

// The more points, the fainter each.
const veil = (number) => Math.min(0.75, Math.max(0.18, 14 / Math.sqrt(number)));

function truthChart(method, pairs) {
  const domain = extent(pairs.flat());
  const off = pairs.map(([truth, prediction]) => Math.abs(prediction - truth)).sort((a, b) => a - b);
  const median = off[Math.floor(off.length / 2)];
  return chart({
    title: "Prediction against truth",
    subtitle: `Half of the predictions are within ${num(median)} of the truth`,
    label: `${method.title}: prediction against truth of ${pairs.length} test rows. Half are within ${num(median)} of the truth.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain, title: `True ${shortened(RECORD.target, 40)}`, pad: 0.03 },
    y: { domain, title: "Predicted", pad: 0.03 },
    marks: ({ add, x, y }) => {
      add("path", { class: "guide", d: pathThrough([[x(domain[0]), y(domain[0])], [x(domain[1]), y(domain[1])]]) });
      return pairs.map(([truth, prediction]) => {
        add("circle", { class: "f-blue", cx: x(truth), cy: y(prediction), r: 2.6, "fill-opacity": veil(pairs.length) });
        return { x: x(truth), y: y(prediction), words: `true ${num(truth, 4)}\npredicted ${num(prediction, 4)}` };
      });
    },
  });
}

function leftOverChart(method, pairs) {
  const rest = pairs.map(([truth, prediction]) => [prediction, truth - prediction]);
  const far = Math.max(...rest.map(([, residual]) => Math.abs(residual))) || 1;
  return chart({
    title: "What is left over, by prediction",
    subtitle: "A pattern here is something the model has not learned",
    label: `${method.title}: residual, truth minus prediction, against prediction.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain: extent(rest.map(([prediction]) => prediction)), title: "Predicted", pad: 0.03 },
    y: { domain: [-far, far], title: "Truth minus prediction", pad: 0.03 },
    marks: ({ add, x, y, left, right }) => {
      add("line", { class: "zero", x1: left, x2: right, y1: y(0), y2: y(0) });
      return rest.map(([prediction, residual]) => {
        add("circle", { class: "f-blue", cx: x(prediction), cy: y(residual), r: 2.6,
          "fill-opacity": veil(rest.length) });
        return { x: x(prediction), y: y(residual),
          words: `predicted ${num(prediction, 4)}\nleft over ${num(residual)}` };
      });
    },
  });
}

function residualChart(method) {
  return barsOver(method.test.residuals, {
    title: "How large the leftovers are",
    subtitle: "All test rows",
    label: `${method.title}: distribution of truth minus prediction over the test rows.`,
    height: (width) => Math.min(width, 340) + 20,
    across: "Truth minus prediction",
    hue: () => "blue",
    mark: 0,
  });
}

/* Bars of a histogram over a number, all groups together. words: title, subtitle, label, height, across (title of
   the axis), hue(low, high) of a bar, mark (a value to draw a line at). */
function barsOver(histogram, words) {
  const { edges } = histogram;
  const groups = Object.values(histogram.counts);
  const counts = edges.slice(1).map((_, i) => sum(groups.map((group) => group[i])));
  const total = sum(counts) || 1;
  return chart({
    ...words,
    x: { domain: extent(edges), title: words.across },
    y: { domain: [0, Math.max(...counts) || 1], nice: true, title: "Rows" },
    marks: ({ add, x, y, top, bottom }) => {
      counts.forEach((count, i) => {
        const wide = Math.max(x(edges[i + 1]) - x(edges[i]) - 1, 0.8);
        add("rect", { class: `f-${words.hue(edges[i], edges[i + 1])}`, x: x(edges[i]), y: y(count), width: wide,
          height: Math.max(bottom - y(count), 0) });
      });
      if (known(words.mark) && words.mark > edges[0] && words.mark < edges[edges.length - 1]) {
        add("line", { class: "zero", x1: x(words.mark), x2: x(words.mark), y1: top, y2: bottom });
      }
      return counts.map((count, i) => ({ x: (x(edges[i]) + x(edges[i + 1])) / 2, y: y(count),
        words: `${num(edges[i])} to ${num(edges[i + 1])}\n${counted(count, "row")}, ${percent(count / total)}` }));
    },
    table: () => ({ columns: ["from", "to", "rows"],
      rows: counts.map((count, i) => [num(edges[i]), num(edges[i + 1]), whole(count)]) }),
  });
}
