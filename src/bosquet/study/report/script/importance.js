// Importances, partial dependence and learning curve of the chosen model.

const FIRST_BARS = 15;

function driversSection() {
  if (!CHOSEN) return null;
  const parts = [importancePart(), dependencePart(), learningPart()].filter(Boolean);
  if (!parts.length) return null;
  const top = CHOSEN.importances.filter((entry) => entry.value > 0).slice(0, 2);
  const named = top.map((entry) => `“${shortened(entry.feature, 40)}”`);
  const heading = top.length ? "Feature importance and effects" : "The chosen method";
  const alone = top.length === 1 || (top.length > 1 && top[1].value < top[0].value / 4);
  const method = inSentence(CHOSEN_METHOD?.title || CHOSEN.name);
  const lead = !top.length ? null : !alone
    ? `The most important features of ${method} are ${named.join(" and ")}.`
    : `The most important feature of ${method} is ${named[0]}${top.length > 1 ? `; the second, ${named[1]}, is ${num(top[0].value / top[1].value, 2)} times less important` : ""}.`;
  return section("drivers", "Features", heading, lead, parts);
}

function importancePart() {
  const entries = CHOSEN.importances.filter((entry) => isNumber(entry.value));
  if (!entries.length) return null;
  const place = h("div", {});
  let all = entries.length <= FIRST_BARS + 3;
  const show = () => clear(place).append(importanceChart(all ? entries : entries.slice(0, FIRST_BARS)));
  show();
  const button = !all && h("button", { type: "button", class: "more", "aria-expanded": "false",
    on: { click: (event) => {
    all = !all;
    event.target.textContent = all ? `Show the first ${FIRST_BARS}` : `Show all ${entries.length}`;
    event.target.setAttribute("aria-expanded", String(all));
    show();
  } } }, `Show all ${entries.length}`);
  return sub("Feature importance",
    `Importance by ${CHOSEN.importance_kind}; the largest is 100. Lines show one standard error to each side.`,
    h("div", { class: "medium" }, place), button);
}

function importanceChart(entries) {
  const row = 25;
  const entryText = (entry) => `${entry.feature}: ${num(entry.value)}${isNumber(entry.spread) ? ` ± ${num(entry.spread, 2)}` : ""}`;
  return figureOf({
    label: `Importances, largest first. ${entries.slice(0, 5).map(entryText).join("; ")}.`,
    height: entries.length * row + 8,
    draw: (svg, width) => {
      const side = Math.min(Math.ceil(Math.max(...entries.map((entry) => textWidth(entry.feature, "13px")))) + 14,
        width * 0.42, 260);
      const [low, high] = extent([0, ...entries.flatMap((entry) => [entry.value, entry.value + (entry.spread || 0)])]);
      const x = scaleOver({ domain: [low, high] }, side, width - 46, 4);
      const points = [];
      entries.forEach((entry, i) => {
        const middle = i * row + row / 2 + 2;
        svg.append(
          s("text", { class: "ink", x: side - 8, y: middle + 4, "text-anchor": "end" },
            fitted(entry.feature, side - 12, "13px"), s("title", {}, entry.feature)),
          s("rect", { class: "f-blue", x: Math.min(x(0), x(entry.value)), y: middle - 7,
            width: Math.max(Math.abs(x(entry.value) - x(0)), 1), height: 14 }));
        if (isNumber(entry.spread) && entry.spread > 0) {
          svg.append(s("line", { class: "baseline", x1: x(Math.max(entry.value - entry.spread, low)),
            x2: x(entry.value + entry.spread), y1: middle, y2: middle }));
        }
        const end = x(Math.max(entry.value + (isNumber(entry.spread) ? entry.spread : 0), 0));
        svg.append(s("text", { x: end + 6, y: middle + 4 }, num(entry.value, 2)));
        points.push({ x: x(entry.value), y: middle, words: entryText(entry) });
      });
      return points;
    },
    table: () => ({ columns: ["feature", "importance", "standard error"],
      rows: entries.map((entry) => [entry.feature, num(entry.value), num(entry.spread, 2)]) }),
  });
}

function dependencePart() {
  const shown = CHOSEN.dependence.filter((one) => one.grid.length && one.mean.some(isNumber));
  if (!shown.length) return null;
  // The same scale for all features, so that effects can be compared.
  const domain = extent(shown.flatMap((one) => [...one.mean, ...(one.low || []), ...(one.high || [])]));
  return sub("Partial dependence",
    "The mean prediction if one feature is set to a value and the others are unchanged. The band contains the middle 80 % of the curves of single rows. All figures have the same scale.",
    h("div", { class: "grid" }, shown.map((one) =>
      (one.grid.every(isNumber) ? dependenceCurve(one, domain) : dependenceDots(one, domain)))));
}

function dependenceCurve(one, domain) {
  const pointText = (i) => `${one.feature} = ${num(one.grid[i], 4)}\n${one.unit}: ${num(one.mean[i])}`;
  return chart({
    title: one.feature,
    label: `Mean ${one.unit} against ${one.feature}: from ${num(one.mean[0])} at ${num(one.grid[0])} to ${num(one.mean[one.mean.length - 1])} at ${num(one.grid[one.grid.length - 1])}.`,
    height: 200,
    x: { domain: extent(one.grid) },
    y: { domain, title: one.unit, pad: 0.04 },
    marks: ({ add, x, y }) => {
      if (one.low && one.high) {
        add("path", { class: "band f-blue", d: bandBetween(one.grid.map((value, i) => [x(value), y(one.low[i])]),
          one.grid.map((value, i) => [x(value), y(one.high[i])])) });
      }
      add("path", { class: "line c-blue",
        d: pathThrough(one.grid.map((value, i) => [x(value), isNumber(one.mean[i]) ? y(one.mean[i]) : NaN])) });
      return one.grid.map((value, i) => ({ x: x(value), y: y(one.mean[i]),
        words: pointText(i) })).filter((point) => isNumber(point.y));
    },
    table: () => ({ columns: [one.feature, one.unit],
      rows: one.grid.map((value, i) => [num(value, 4), num(one.mean[i])]) }),
  });
}

function dependenceDots(one, domain) {
  const row = Math.max(18, Math.min(24, 160 / one.grid.length));
  const names = one.grid.map(String);
  return figureOf({
    title: one.feature,
    label: `Mean ${one.unit} by ${one.feature}: ${names.slice(0, 8).map((name, i) => `${name} ${num(one.mean[i])}`).join("; ")}.`,
    height: Math.max(names.length * row + 46, 120),
    draw: (svg, width, height) => {
      const side = Math.min(Math.ceil(Math.max(...names.map((name) => textWidth(name)))) + 10, width * 0.45);
      const x = scaleOver({ domain, pad: 0.04 }, side, width - 10, 3);
      const bottom = height - 22;
      svg.append(s("text", { x: 0, y: 12 }, fitted(one.unit, width)));
      for (const [value, words] of x.ticks) {
        svg.append(s("line", { class: "gridline", x1: x(value), x2: x(value), y1: 22, y2: bottom }),
          s("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, words));
      }
      return names.map((name, i) => {
        const middle = 22 + (i + 0.5) * row;
        svg.append(s("text", { x: side - 6, y: middle + 4, "text-anchor": "end" }, fitted(name, side - 8),
          s("title", {}, name)));
        if (one.low && one.high && isNumber(one.low[i])) svg.append(s("line",
          { class: "whisker c-blue", x1: x(one.low[i]), x2: x(one.high[i]), y1: middle, y2: middle }));
        svg.append(s("circle", { class: "f-blue", cx: x(one.mean[i]), cy: middle, r: 4.5 }));
        return { x: x(one.mean[i]), y: middle, words: `${one.feature}: ${name}\n${one.unit}: ${num(one.mean[i])}` };
      });
    },
    table: () => ({ columns: [one.feature, one.unit], rows: names.map((name, i) => [name, num(one.mean[i])]) }),
  });
}

function learningPart() {
  const points = CHOSEN.learning_curve.filter((point) => isNumber(point.rows) && isNumber(point.score));
  if (points.length < 2) return null;
  const last = points[points.length - 1];
  const forecast = CHOSEN.learning_text;
  const places = placesFor(points.map((point) => point.score));
  const spread = (point) => (isNumber(point.spread) ? point.spread : 0);
  const text = `The score on the test rows against the number of training rows; the band is one standard deviation to each side. ${forecast}`;
  return sub("Learning curve", text, h("div", { class: "medium" }, chart({
    label: `Learning curve: ${inSentence(METRIC.title)} on test rows against the number of training rows. ${forecast}`,
    height: 250,
    x: { domain: extent(points.map((point) => point.rows)), log: last.rows > 6 * points[0].rows,
      title: "Training rows", pad: 0.03 },
    y: { domain: extent(points.flatMap((point) => [point.score - spread(point), point.score + spread(point)])),
      title: `${METRIC.title}, ${BETTER}`, pad: 0.06 },
    marks: ({ add, x, y }) => {
      add("path", { class: "band f-blue", d: bandBetween(points.map((p) => [x(p.rows), y(p.score - spread(p))]),
        points.map((p) => [x(p.rows), y(p.score + spread(p))])) });
      add("path", { class: "line c-blue", d: pathThrough(points.map((point) => [x(point.rows), y(point.score)])) });
      return points.map((point) => {
        add("circle", { class: "f-blue", cx: x(point.rows), cy: y(point.score), r: 4 });
        return { x: x(point.rows), y: y(point.score),
          words: `${whole(point.rows)} training rows\n${METRIC.title} ${decimal(point.score, places)}` };
      });
    },
    table: () => ({ columns: ["training rows", METRIC.title, "standard deviation"],
      rows: points.map((point) => [whole(point.rows), decimal(point.score, places), decimal(point.spread, places)]) }),
  })));
}
