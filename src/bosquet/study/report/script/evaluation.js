// ROC, precision-recall and calibration curves on the test rows of the first split.

function evaluationSection() {
  const methods = DONE.filter((method) => method.test && (hasCurves(method.test.roc) || hasCurves(method.test.pr)
    || method.test.calibration?.length));
  if (!methods.length || RECORD.task === "regression") return null;
  const start = methods.includes(CHOSEN_METHOD) ? CHOSEN_METHOD : methods[0];
  const classes = Object.keys(start.test.roc || start.test.pr || {});
  const state = {
    method: start.name,
    other: methods.find((method) => method !== start)?.name || "",
    name: classes.includes(RECORD.positive) ? RECORD.positive : largestOf(classes, start),
  };
  const figures = h("div", { class: "grid" });
  const legend = h("div", {});
  const draw = () => drawEvaluation(state, methods, figures, legend);
  const titles = methods.map((method) => [method.name, method.title]);
  const controls = h("div", { class: "controls" },
    chooser("Method", titles, state.method, (value) => { state.method = value; draw(); }),
    chooser("Compare with", [["", "none"], ...titles], state.other, (value) => { state.other = value; draw(); }),
    classes.length > 1 && chooser("Class (one against the rest)", classes.map((name) => [name, name]), state.name,
      (value) => { state.name = value; draw(); }));
  draw();
  return section("test", "Test rows", "ROC, precision-recall and calibration curves",
    `Computed on the ${whole(start.test.n_rows)} test rows of the first split. The curves of all other methods are shown in grey.${BY_WEIGHT}`,
    controls, legend, figures, trustFacts());
}

const hasCurves = (curves) => Object.keys(curves || {}).length > 0;

function drawEvaluation(state, methods, figures, legend) {
  const method = methods.find((candidate) => candidate.name === state.method);
  const other = methods.find((candidate) => candidate.name === state.other && candidate !== method);
  const shown = [[method, "blue"], ...(other ? [[other, "orange"]] : [])];
  clear(legend).append(keys(shown.map(([one, hue]) => [hue, one.title])));
  const behind = methods.filter((one) => one !== method && one !== other);
  clear(figures).append(...[
    curveChart("roc", state.name, shown, behind),
    curveChart("pr", state.name, shown, behind),
    calibrationChart(shown),
  ].filter(Boolean));
}

const CURVES = {
  roc: { title: "ROC curve", x: "False positive rate", y: "True positive rate (recall)",
    area: (points) => trapezoid(points), named: "area under the curve", guide: () => [[0, 0], [1, 1]] },
  pr: { title: "Precision-recall curve", x: "Recall", y: "Precision",
    area: (points) => steps(points), named: "average precision",
      guide: (share) => isNumber(share) && [[0, share], [1, share]] },
};

function trapezoid(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return sum(sorted.slice(1).map(([x, y], i) => ((x - sorted[i][0]) * (y + sorted[i][1])) / 2));
}

function steps(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  return sum(sorted.slice(1).map(([x, y], i) => (x - sorted[i][0]) * y));
}

function curveChart(kind, name, shown, behind) {
  const texts = CURVES[kind];
  const of = (method) => (method.test[kind] || {})[name]?.filter(([x, y]) => isNumber(x) && isNumber(y));
  if (!shown.some(([method]) => of(method)?.length)) return null;
  const areas = shown.filter(([method]) => of(method)?.length)
    .map(([method, hue]) => [hue, method.title, texts.area(of(method))]);
  const subtitle = areas.map(([, , area],
    i) => (i ? `compared method ${decimal(area, 3)}` : `${texts.named} ${decimal(area, 3)}`)).join(", ");
  return chart({
    title: texts.title,
    subtitle: subtitle[0].toUpperCase() + subtitle.slice(1),
    label: `${texts.title} of class ${name}. ${areas.map(([, title, area]) => `${title}: ${texts.named} ${decimal(area, 3)}`).join("; ")}.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain: [0, 1], ticks: SHARE_TICKS, title: texts.x },
    y: { domain: [0, 1], ticks: SHARE_TICKS, title: texts.y },
    marks: ({ add, x, y }) => {
      const trace = (points, attributes) => add("path",
        { ...attributes, d: pathThrough(points.map(([a, b]) => [x(a), y(b)])) });
      const guide = texts.guide(shareOf(name));
      if (guide) trace(guide, { class: "guide" });
      for (const method of behind) if (of(method)) trace(of(method), { class: "line thin c-grey" });
      for (const [method, hue] of [...shown].reverse()) {
        if (of(method)) trace(of(method), { class: `line c-${hue}`, "stroke-dasharray": hue === "orange" && "7 3" });
      }
      const main = of(shown[0][0]) || [];
      return main.map(([a, b]) => ({ x: x(a), y: y(b), words: kind === "roc"
        ? `true positive rate ${percent(b)}\nfalse positive rate ${percent(a)}`
        : `recall ${percent(a)}\nprecision ${percent(b)}` }));
    },
    table: () => ({ columns: [texts.x, texts.y],
      rows: (of(shown[0][0]) || []).map(([a, b]) => [decimal(a, 3), decimal(b, 3)]) }),
  });
}

// The class with most test rows.
function largestOf(classes, method) {
  const sizes = classes.map((name) => sum(method.test.confusion?.[RECORD.classes.indexOf(name)] || []));
  return classes[sizes.indexOf(Math.max(...sizes))];
}

// Share of a class in the whole table.
function shareOf(name) {
  const target = RECORD.exploration.target;
  const place = (target.levels || []).indexOf(name);
  const counts = Object.values(target.counts)[0];
  return place >= 0 && counts ? counts[place] / sum(counts) : NaN;
}

function calibrationChart(shown) {
  const of = (method) => (method.test.calibration || []).filter((bin) => isNumber(bin.forecast) && isNumber(bin.observed));
  if (!of(shown[0][0]).length) return null;
  const error = (method) => sum(of(method).map((bin) => bin.n * Math.abs(bin.observed - bin.forecast))) / sum(of(method).map((bin) => bin.n));
  // Probabilities of a rare class are all small: the axes then end at the largest one.
  const reach = Math.max(...shown.flatMap(([method]) => of(method).flatMap((bin) => [bin.forecast, bin.observed, bin.high].filter(isNumber))));
  const top = reach < 0.5 ? Math.min(roundStep(reach * 1.05), 1) : 1;
  const ticks = top === 1 ? SHARE_TICKS : undefined;
  const axis = RECORD.task === "binary" ? "Predicted probability" : "Predicted probability of the predicted class";
  return chart({
    title: "Calibration curve",
    subtitle: `Mean distance from the diagonal (calibration error): ${percent(error(shown[0][0]))}`,
    label: `Calibration of ${shown[0][0].title}: ${of(shown[0][0]).map((bin) => `predicted ${percent(bin.forecast, 0)}, observed ${percent(bin.observed, 0)}`).join("; ")}.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain: [0, top], ticks, title: axis },
    y: { domain: [0, top], ticks, title: "Observed frequency" },
    marks: ({ add, x, y }) => {
      add("path", { class: "guide", d: pathThrough([[x(0), y(0)], [x(top), y(top)]]) });
      for (const [method, hue] of [...shown].reverse()) {
        const bins = of(method);
        const most = Math.max(...bins.map((bin) => bin.n));
        add("path", { class: `line thin c-${hue}`,
          d: pathThrough(bins.map((bin) => [x(bin.forecast), y(bin.observed)])) });
        for (const bin of bins) {
          if (isNumber(bin.low)) add("line", { class: `whisker c-${hue}`, x1: x(bin.forecast), x2: x(bin.forecast),
            y1: y(bin.low), y2: y(bin.high) });
          add("circle", { class: `f-${hue}`, cx: x(bin.forecast), cy: y(bin.observed),
            r: 2.5 + 4 * Math.sqrt(bin.n / most) });
        }
      }
      return of(shown[0][0]).map((bin) => ({ x: x(bin.forecast), y: y(bin.observed),
        words: `predicted ${percent(bin.forecast)}, observed ${percent(bin.observed)}\n${counted(bin.n, "row")}` }));
    },
    table: () => ({ columns: ["predicted", "observed", "low", "high", "rows"], rows: of(shown[0][0]).map((bin) =>
      [percent(bin.forecast), percent(bin.observed), percent(bin.low), percent(bin.high), whole(bin.n)]) }),
  });
}

// Coverage of conformal intervals or sets, and calibration error before and after calibration.
function trustFacts() {
  if (!CHOSEN) return null;
  const { coverage, calibration } = CHOSEN;
  const facts = [];
  if (coverage && isNumber(coverage.nominal) && isNumber(coverage.observed)) {
    const size = isNumber(coverage.mean_width) ? `; their mean width is ${num(coverage.mean_width)}`
      : isNumber(coverage.mean_size) ? `; a set has ${num(coverage.mean_size)} classes on average` : "";
    facts.push(h("p", {},
      `Conformal ${RECORD.task === "regression" ? "intervals" : "prediction sets"} with a nominal coverage of ${percent(coverage.nominal, 0)} `
      + `contain the true value of ${percent(coverage.observed)} of the test rows${size}. `
      + "Those of each half of the test rows were calibrated on the other half."));
  }
  if (calibration && (isNumber(calibration.ece) || isNumber(calibration.brier))) {
    const after = (key) => (isNumber(calibration[`${key}_after`])
      ? ` (${decimal(calibration[`${key}_after`], 3)} after calibration)` : "");
    facts.push(h("p", {}, [["ece", "Expected calibration error:"], ["brier", "Brier score:"]]
      .filter(([key]) => isNumber(calibration[key]))
      .map(([key, title]) => `${title} ${decimal(calibration[key], 3)}${after(key)}`).join("; ") + "."));
  }
  return facts.length ? sub(calibration ? "Coverage and calibration" : "Coverage of intervals", null, facts) : null;
}
