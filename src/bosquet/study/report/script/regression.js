// Predicted against true values and residuals, for regression.

function regressionSection() {
  if (RECORD.task !== "regression") return null;
  const methods = DONE.filter((method) => method.test && (method.test.scatter?.length || method.test.residuals));
  if (!methods.length) return null;
  const start = methods.includes(CHOSEN_METHOD) ? CHOSEN_METHOD : methods[0];
  const figures = h("div", { class: "grid" });
  const show = (name) => {
    const method = methods.find((candidate) => candidate.name === name);
    const pairs = (method.test.scatter || []).filter(([truth, prediction]) => isNumber(truth) && isNumber(prediction));
    clear(figures).append(...[
      pairs.length && predictionChart(method, pairs),
      pairs.length && residualChart(method, pairs),
      method.test.residuals && residualHistogram(method),
    ].filter(Boolean));
  };
  show(start.name);
  return section("test", "Test rows", "Predictions and residuals",
    `Computed on the ${whole(start.test.n_rows)} test rows of the first split. If there are many rows, the scatter plots show a sample.${WEIGHTED ? " The histogram of residuals counts rows by their weights." : ""}`,
    methods.length > 1 && h("div", { class: "controls" },
      chooser("Method", methods.map((method) => [method.name, method.title]), start.name, show)),
    figures, trustFacts());
}

// Opacity of a point: lower if there are many points.
const opacity = (number) => Math.min(0.75, Math.max(0.18, 14 / Math.sqrt(number)));

function predictionChart(method, pairs) {
  const domain = extent(pairs.flat());
  const errors = pairs.map(([truth, prediction]) => Math.abs(prediction - truth)).sort((a, b) => a - b);
  const median = errors[Math.floor(errors.length / 2)];
  return chart({
    title: "Predicted against true values",
    subtitle: `Median absolute error: ${num(median)}`,
    label: `${method.title}: predicted against true values of ${pairs.length} test rows. Median absolute error: ${num(median)}.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain, title: `True ${shortened(RECORD.target, 40)}`, pad: 0.03 },
    y: { domain, title: `Predicted ${shortened(RECORD.target, 40)}`, pad: 0.03 },
    marks: ({ add, x, y }) => {
      add("path", { class: "guide", d: pathThrough([[x(domain[0]), y(domain[0])], [x(domain[1]), y(domain[1])]]) });
      return pairs.map(([truth, prediction]) => {
        add("circle", { class: "f-blue", cx: x(truth), cy: y(prediction), r: 2.6, "fill-opacity": opacity(pairs.length) });
        return { x: x(truth), y: y(prediction), words: `true ${num(truth, 4)}\npredicted ${num(prediction, 4)}` };
      });
    },
  });
}

function residualChart(method, pairs) {
  const rest = pairs.map(([truth, prediction]) => [prediction, truth - prediction]);
  const far = Math.max(...rest.map(([, residual]) => Math.abs(residual))) || 1;
  return chart({
    title: "Residuals against predictions",
    subtitle: "A pattern means that the model misses a part of the dependence",
    label: `${method.title}: residual (true value minus prediction) against prediction.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain: extent(rest.map(([prediction]) => prediction)), title: `Predicted ${shortened(RECORD.target, 40)}`,
      pad: 0.03 },
    y: { domain: [-far, far], title: "Residual: true value minus prediction", pad: 0.03 },
    marks: ({ add, x, y, left, right }) => {
      add("line", { class: "zero", x1: left, x2: right, y1: y(0), y2: y(0) });
      return rest.map(([prediction, residual]) => {
        add("circle", { class: "f-blue", cx: x(prediction), cy: y(residual), r: 2.6,
          "fill-opacity": opacity(rest.length) });
        return { x: x(prediction), y: y(residual),
          words: `predicted ${num(prediction, 4)}\nresidual ${num(residual)}` };
      });
    },
  });
}

function residualHistogram(method) {
  return barsOver(method.test.residuals, {
    title: "Histogram of residuals",
    subtitle: "All test rows of the first split",
    label: `${method.title}: histogram of the residuals (true value minus prediction) of the test rows.`,
    height: (width) => Math.min(width, 340) + 20,
    across: "Residual: true value minus prediction",
    hue: () => "blue",
    mark: 0,
  });
}

/* Bar chart of a histogram of numbers, summed over groups. spec: title, subtitle, label, height, across (title of the
   horizontal axis), hue(low, high) of a bar, mark (value of a vertical line). */
function barsOver(histogram, spec) {
  const { edges } = histogram;
  const groups = Object.values(histogram.counts);
  const counts = edges.slice(1).map((_, i) => sum(groups.map((group) => group[i])));
  const total = sum(counts) || 1;
  return chart({
    ...spec,
    x: { domain: extent(edges), title: spec.across },
    y: { domain: [0, Math.max(...counts) || 1], nice: true, title: "Rows" },
    marks: ({ add, x, y, top, bottom }) => {
      counts.forEach((count, i) => {
        const wide = Math.max(x(edges[i + 1]) - x(edges[i]) - 1, 0.8);
        add("rect", { class: `f-${spec.hue(edges[i], edges[i + 1])}`, x: x(edges[i]), y: y(count), width: wide,
          height: Math.max(bottom - y(count), 0) });
      });
      if (isNumber(spec.mark) && spec.mark > edges[0] && spec.mark < edges[edges.length - 1]) {
        add("line", { class: "zero", x1: x(spec.mark), x2: x(spec.mark), y1: top, y2: bottom });
      }
      return counts.map((count, i) => ({ x: (x(edges[i]) + x(edges[i + 1])) / 2, y: y(count),
        words: `${num(edges[i])} to ${num(edges[i + 1])}\n${counted(count, "row")}, ${percent(count / total)}` }));
    },
    table: () => ({ columns: ["from", "to", "rows"],
      rows: counts.map((count, i) => [num(edges[i]), num(edges[i + 1]), whole(count)]) }),
  });
}
