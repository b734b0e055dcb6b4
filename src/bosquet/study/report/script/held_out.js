// ROC, precision against recall, and calibration, on the test rows of the first split.

function heldOutSection() {
  const methods = DONE.filter((method) => method.test && (hasCurves(method.test.roc) || hasCurves(method.test.pr)
    || method.test.calibration?.length));
  if (!methods.length || RECORD.task === "regression") return null;
  const start = methods.includes(CHOSEN) ? CHOSEN : methods[0];
  const classes = Object.keys(start.test.roc || start.test.pr || {});
  const state = {
    method: start.name,
    other: methods.find((method) => method !== start)?.name || "",
    name: classes.includes(RECORD.positive) ? RECORD.positive : largestOf(classes, start),
  };
  const figures = h("div", { class: "grid" });
  const legend = h("div", {});
  const draw = () => drawHeldOut(state, methods, figures, legend);
  const titles = methods.map((method) => [method.name, method.title]);
  const controls = h("div", { class: "controls" },
    chooser("Method", titles, state.method, (value) => { state.method = value; draw(); }),
    chooser("Beside it", [["", "nothing"], ...titles], state.other, (value) => { state.other = value; draw(); }),
    classes.length > 1 && chooser("Class against the rest", classes.map((name) => [name, name]), state.name,
      (value) => { state.name = value; draw(); }));
  draw();
  return section("test", "Test rows", "How well does it tell them apart, and does it know how sure it is?",
    `The ${whole(start.test.n_rows)} test rows of the first split. Curves of all other methods are in grey behind.${BY_WEIGHT}`,
    controls, legend, figures, trustFacts());
}

const hasCurves = (curves) => Object.keys(curves || {}).length > 0;

function drawHeldOut(state, methods, figures, legend) {
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
  roc: { title: "ROC: hits against false alarms", x: "False alarms: share of the others flagged",
    y: "Hits: share of the class found",
    area: (points) => trapezoid(points), named: "area", guide: () => [[0, 0], [1, 1]] },
  pr: { title: "Precision against recall", x: "Recall: share of the class found",
    y: "Precision: share of the flagged that are right",
    area: (points) => steps(points), named: "average precision",
      guide: (share) => known(share) && [[0, share], [1, share]] },
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
  const words = CURVES[kind];
  const of = (method) => (method.test[kind] || {})[name]?.filter(([x, y]) => known(x) && known(y));
  if (!shown.some(([method]) => of(method)?.length)) return null;
  const areas = shown.filter(([method]) => of(method)?.length)
    .map(([method, hue]) => [hue, method.title, words.area(of(method))]);
  const told = areas.map(([, , area],
    i) => (i ? `beside it ${decimal(area, 3)}` : `${words.named} ${decimal(area, 3)}`)).join(", ");
  return chart({
    title: words.title,
    subtitle: told[0].toUpperCase() + told.slice(1),
    label: `${words.title} of class ${name}. ${areas.map(([, title, area]) => `${title}: ${words.named} ${decimal(area, 3)}`).join("; ")}.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain: [0, 1], ticks: SHARE_TICKS, title: words.x },
    y: { domain: [0, 1], ticks: SHARE_TICKS, title: words.y },
    marks: ({ add, x, y }) => {
      const trace = (points, attributes) => add("path",
        { ...attributes, d: pathThrough(points.map(([a, b]) => [x(a), y(b)])) });
      const guide = words.guide(shareOf(name));
      if (guide) trace(guide, { class: "guide" });
      for (const method of behind) if (of(method)) trace(of(method), { class: "line thin c-grey" });
      for (const [method, hue] of [...shown].reverse()) {
        if (of(method)) trace(of(method), { class: `line c-${hue}`, "stroke-dasharray": hue === "orange" && "7 3" });
      }
      const main = of(shown[0][0]) || [];
      return main.map(([a, b]) => ({ x: x(a), y: y(b), words: kind === "roc"
        ? `finds ${percent(b)} of the class\nwith ${percent(a)} false alarms`
        : `finds ${percent(a)} of the class\n${percent(b)} of the flagged are right` }));
    },
    table: () => ({ columns: [words.x, words.y],
      rows: (of(shown[0][0]) || []).map(([a, b]) => [decimal(a, 3), decimal(b, 3)]) }),
  });
}

// The class of most test rows, the first of several.
function largestOf(classes, method) {
  const sizes = classes.map((name) => sum(method.test.confusion?.[RECORD.classes.indexOf(name)] || []));
  return classes[sizes.indexOf(Math.max(...sizes))];
}

// Share of a class in the table.
function shareOf(name) {
  const target = RECORD.exploration.target;
  const place = (target.levels || []).indexOf(name);
  const counts = Object.values(target.counts)[0];
  return place >= 0 && counts ? counts[place] / sum(counts) : NaN;
}

function calibrationChart(shown) {
  const of = (method) => (method.test.calibration || []).filter((bin) => known(bin.forecast) && known(bin.observed));
  if (!of(shown[0][0]).length) return null;
  const off = (method) => sum(of(method).map((bin) => bin.n * Math.abs(bin.observed - bin.forecast))) / sum(of(method).map((bin) => bin.n));
  // Forecasts of a rare class all lie in one corner of the square: it is drawn as far as they go.
  const reach = Math.max(...shown.flatMap(([method]) => of(method).flatMap((bin) => [bin.forecast, bin.observed, bin.high].filter(known))));
  const top = reach < 0.5 ? Math.min(roundStep(reach * 1.05), 1) : 1;
  const ticks = top === 1 ? SHARE_TICKS : undefined;
  const whose = RECORD.task === "binary" ? "Forecast probability" : "Confidence in the class decided on";
  return chart({
    title: "Calibration: forecast and outcome",
    subtitle: `On average ${percent(off(shown[0][0]))} off the diagonal`,
    label: `Calibration of ${shown[0][0].title}: ${of(shown[0][0]).map((bin) => `forecast ${percent(bin.forecast, 0)}, came true ${percent(bin.observed, 0)}`).join("; ")}.`,
    height: (width) => Math.min(width, 340) + 20,
    x: { domain: [0, top], ticks, title: whose },
    y: { domain: [0, top], ticks, title: "Share that came true" },
    marks: ({ add, x, y }) => {
      add("path", { class: "guide", d: pathThrough([[x(0), y(0)], [x(top), y(top)]]) });
      for (const [method, hue] of [...shown].reverse()) {
        const bins = of(method);
        const most = Math.max(...bins.map((bin) => bin.n));
        add("path", { class: `line thin c-${hue}`,
          d: pathThrough(bins.map((bin) => [x(bin.forecast), y(bin.observed)])) });
        for (const bin of bins) {
          if (known(bin.low)) add("line", { class: `whisker c-${hue}`, x1: x(bin.forecast), x2: x(bin.forecast),
            y1: y(bin.low), y2: y(bin.high) });
          add("circle", { class: `f-${hue}`, cx: x(bin.forecast), cy: y(bin.observed),
            r: 2.5 + 4 * Math.sqrt(bin.n / most) });
        }
      }
      return of(shown[0][0]).map((bin) => ({ x: x(bin.forecast), y: y(bin.observed),
        words: `forecast ${percent(bin.forecast)}, came true ${percent(bin.observed)}\n${counted(bin.n, "row")}` }));
    },
    table: () => ({ columns: ["forecast", "came true", "low", "high", "rows"], rows: of(shown[0][0]).map((bin) =>
      [percent(bin.forecast), percent(bin.observed), percent(bin.low), percent(bin.high), whole(bin.n)]) }),
  });
}

// Coverage of intervals or sets, and calibration before and after, as the study measured them on the winner.
function trustFacts() {
  if (!WINNER) return null;
  const { coverage, calibration } = WINNER;
  const facts = [];
  if (coverage && known(coverage.nominal) && known(coverage.observed)) {
    const size = known(coverage.mean_width) ? `; their mean width is ${num(coverage.mean_width)}`
      : known(coverage.mean_size) ? `; a set has ${num(coverage.mean_size)} classes on average` : "";
    facts.push(h("p", {},
      `${RECORD.task === "regression" ? "Intervals" : "Sets of classes"} promised to hold the truth in ${percent(coverage.nominal, 0)} of cases `
      + `held it in ${percent(coverage.observed)} of the test rows${size}. `
      + "Each half of these rows was looked at with limits that were set on the other half."));
  }
  if (calibration && (known(calibration.ece) || known(calibration.brier))) {
    const after = (key) => (known(calibration[`${key}_after`])
      ? ` (${decimal(calibration[`${key}_after`], 3)} once calibrated)` : "");
    facts.push(h("p", {}, [["ece", "Forecasts and outcomes differ by"], ["brier", "the Brier score is"]]
      .filter(([key]) => known(calibration[key]))
      .map(([key, words]) => `${words} ${decimal(calibration[key], 3)}${after(key)}`).join("; ") + "."));
  }
  return facts.length ? sub("Can its certainty be trusted?", null, facts) : null;
}
