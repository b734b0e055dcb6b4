// The confusion matrix of two classes at the threshold of a slider, with rates and costs.

function decisionSection() {
  if (RECORD.task === "regression") return null;
  const methods = DONE.filter((method) => method.test && (method.test.thresholds?.length
    || method.test.confusion?.length));
  if (!methods.length) return null;
  const start = methods.includes(CHOSEN_METHOD) ? CHOSEN_METHOD : methods[0];
  const place = h("div", {});
  const show = (name) => {
    const method = methods.find((candidate) => candidate.name === name);
    clear(place).append(method.test.thresholds?.length && RECORD.positive !== null ? thresholdPanel(method)
      : confusionPanel(method));
  };
  show(start.name);
  const two = Boolean(start.test.thresholds?.length);
  return section("decisions", "Decisions", two ? "Confusion matrix and decision threshold" : "Confusion matrix",
    two
      ? `A row is predicted as “${RECORD.positive}” if its probability is at least the threshold. A lower threshold has fewer misses (false negatives) but more false alarms (false positives).${BY_WEIGHT}`
      : `Rows of the matrix are true classes, columns are predicted classes; percentages are of the true class.${BY_WEIGHT}`,
    methods.length > 1 && h("div", { class: "controls" },
      chooser("Method", methods.map((method) => [method.name, method.title]), start.name, show)),
    place);
}

function ratesAt({ tn, fp, fn, tp }) {
  const part = (top, bottom) => (bottom ? top / bottom : NaN);
  const [recall, specificity, precision] = [part(tp, tp + fn), part(tn, tn + fp), part(tp, tp + fp)];
  return {
    accuracy: part(tp + tn, tp + tn + fp + fn), balanced: (recall + specificity) / 2, recall, specificity, precision,
    f1: part(2 * tp, 2 * tp + fp + fn), flagged: part(tp + fp, tp + tn + fp + fn),
  };
}

function costsFromRecord() {
  const p = RECORD.classes.indexOf(RECORD.positive);
  const costs = RECORD.costs;
  if (!costs || p < 0) return { alarm: 1, miss: 1, hit: 0, pass: 0 };
  const n = 1 - p;
  return { alarm: costs[n][p], miss: costs[p][n], hit: costs[p][p], pass: costs[n][n] };
}

function thresholdPanel(method) {
  const points = method.test.thresholds.filter((point) => isNumber(point.threshold)).sort((a,
    b) => a.threshold - b.threshold);
  const costs = costsFromRecord();
  const costAt = (point) => (point.fp * costs.alarm + point.fn * costs.miss + point.tp * costs.hit
    + point.tn * costs.pass)
    / (point.tn + point.fp + point.fn + point.tp);
  const nearest = (value) => points.reduce((best, point, i) =>
    (Math.abs(point.threshold - value) < Math.abs(points[best].threshold - value) ? i : best), 0);
  const cheapest = () => points.reduce((best, point, i) => (costAt(point) < costAt(points[best]) ? i : best), 0);
  const mostBalanced = points.reduce((best, point,
    i) => (ratesAt(point).balanced > ratesAt(points[best]).balanced ? i : best), 0);
  const chosen = nearest(isNumber(method.test.threshold) ? method.test.threshold : 0.5);
  const id = freshId("threshold");
  const output = h("output", { for: id });
  const slider = h("input", { id, type: "range", min: 0, max: points.length - 1, step: 1, value: chosen });
  const matrix = h("div", { class: "matrix-place" });
  const rates = h("dl", { class: "rates", "aria-live": "off" });
  const curve = costChart(points, costAt, () => Number(slider.value));
  const show = () => {
    const point = points[Number(slider.value)];
    const shown = num(point.threshold, 3);
    output.textContent = shown;
    slider.setAttribute("aria-valuetext",
      `threshold ${shown}: ${whole(point.fp)} false alarms, ${whole(point.fn)} misses`);
    clear(matrix).append(twoByTwo(point));
    clear(rates).append(...rateItems(point, costAt(point)));
    curve.redraw();
  };
  slider.addEventListener("input", show);
  const jump = (index) => () => { slider.value = index(); show(); };
  const jumps = h("div", { class: "choices" },
    h("button", { type: "button", on: { click: jump(() => chosen) } },
      `Chosen threshold (${num(points[chosen].threshold, 2)})`),
    h("button", { type: "button", on: { click: jump(cheapest) } }, "Lowest cost"),
    h("button", { type: "button", on: { click: jump(() => mostBalanced) } }, "Best balanced accuracy"));
  const costInput = (label, key) => h("label", { class: "field" }, label,
    h("input", { type: "number", min: 0, step: "any", value: costs[key],
    on: { input: (event) => { costs[key] = Math.max(Number(event.target.value) || 0, 0); show(); } } }));
  const panel = h("div", { class: "decide" },
    h("div", {},
      h("div", { class: "slider" }, h("label", { for: id }, "Threshold"), output, slider), jumps,
      h("div", { class: "controls costs" }, costInput("Cost of a false alarm", "alarm"),
        costInput("Cost of a miss", "miss")),
      curve),
    h("div", {}, matrix, rates));
  show();
  return panel;
}

function twoByTwo(point) {
  const positive = RECORD.positive;
  const negative = RECORD.classes.find((name) => name !== positive) ?? "the other";
  const cell = (count, of, wrong, key, title) => {
    const share = of ? count / of : 0;
    return h("td", { class: wrong && "wrong", "data-cell": key, vars: { "--v": share.toFixed(3) } },
      h("b", {}, whole(count)), h("small", {}, `${title}, ${percent(share)}`));
  };
  const named = (name) => h("span", { title: name }, `“${shortened(name, 24)}”`);
  const [others, ones] = [point.tn + point.fp, point.fn + point.tp];
  return h("table", { class: "matrix" },
    h("caption", {}, "Confusion matrix of the test rows; percentages are of the true class"),
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "predicted ", named(negative)),
      h("th", { scope: "col" }, "predicted ", named(positive)))),
    h("tbody", {},
      h("tr", {}, h("th", { scope: "row" }, "true ", named(negative)),
        cell(point.tn, others, false, "tn", "true negatives"), cell(point.fp, others, true, "fp", "false positives")),
      h("tr", {}, h("th", { scope: "row" }, "true ", named(positive)),
        cell(point.fn, ones, true, "fn", "false negatives"), cell(point.tp, ones, false, "tp", "true positives"))));
}

function rateItems(point, cost) {
  const rates = ratesAt(point);
  const item = (key, title, value) => h("div", { "data-rate": key }, h("dt", {}, title), h("dd", {}, value));
  return [
    item("accuracy", "Accuracy", percent(rates.accuracy)),
    item("balanced", "Balanced accuracy", percent(rates.balanced)),
    item("recall", "Recall (sensitivity)", percent(rates.recall)),
    item("specificity", "Specificity", percent(rates.specificity)),
    item("precision", "Precision", percent(rates.precision)),
    item("f1", "F1", decimal(rates.f1, 3)),
    item("flagged", "Predicted positive", percent(rates.flagged)),
    item("cost", "Mean cost per row", num(cost)),
  ];
}

function costChart(points, costAt, at) {
  return chart({
    title: "Mean cost per row by threshold",
    label: "Mean cost per row against the threshold, with the threshold of the slider marked",
    height: 190,
    x: { domain: extent(points.map((point) => point.threshold)), title: "Threshold" },
    get y() {
      return { domain: [0, Math.max(...points.map(costAt)) || 1], nice: true };
    },
    marks: ({ add, x, y, top, bottom }) => {
      const costs = points.map(costAt);
      add("path", { class: "line c-blue",
        d: pathThrough(points.map((point, i) => [x(point.threshold), y(costs[i])])) });
      const here = points[at()];
      add("line", { class: "zero", x1: x(here.threshold), x2: x(here.threshold), y1: top, y2: bottom });
      add("circle", { class: "f-orange", cx: x(here.threshold), cy: y(costs[at()]), r: 6 });
      return points.map((point, i) => ({ x: x(point.threshold), y: y(costs[i]),
        words: `threshold ${num(point.threshold)}\nmean cost ${num(costs[i])} per row` }));
    },
  });
}
