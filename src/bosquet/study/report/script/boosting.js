// The certificate of a boosted classifier: bounds, edges and margins.

function boostingSection() {
  if (!CHOSEN || !(CHOSEN.certificate || CHOSEN.margins)) return null;
  const certificate = CHOSEN.certificate || {};
  const figures = [errorChart(certificate), edgeChart(certificate), marginChart(CHOSEN.margins)].filter(Boolean);
  return section("boosting", "Margins", "Boosting: bounds, edges and margins",
    "The margin of a row is the weight of the true class in the vote (or its probability) minus that of the strongest other class. It lies between −1 and 1 and is positive if the row is classified correctly.",
    certificateText(certificate.text),
    figures.length > 0 && h("div", { class: "grid" }, figures));
}

// The first paragraph of the certificate is shown; the tables after it can be opened.
function certificateText(text) {
  if (!text) return null;
  const [first, ...rest] = text.split(/\n\s*\n/);
  return h("div", { class: "certificate" }, h("p", {}, first),
    rest.length > 0 && h("details", { class: "data" }, h("summary", {}, "Full certificate"),
      h("pre", { tabindex: "0" }, rest.join("\n\n"))));
}

function byRound(certificate, name) {
  const values = certificate[name];
  if (!Array.isArray(values) || values.filter(isNumber).length < 2) return null;
  const { rounds } = certificate;
  // A long record is thinned: the values are then evenly spaced over the rounds.
  const last = isNumber(rounds) ? rounds : values.length;
  const at = Array.isArray(rounds) && rounds.length === values.length
    ? rounds : values.map((_, i) => 1 + (i * (last - 1)) / (values.length - 1));
  return values.map((value, i) => [at[i], value]).filter(([, value]) => isNumber(value));
}

function errorChart(certificate) {
  const series = [["error", "blue", "Training error"], ["bound", "orange", "Upper bound"]]
    .map(([name, hue, title]) => [byRound(certificate, name), hue, title]).filter(([points]) => points);
  if (!series.length) return null;
  const every = series.flatMap(([points]) => points);
  const smallest = Math.min(...every.map(([, value]) => value).filter((value) => value > 0));
  return chart({
    title: "Training error and its upper bound",
    subtitle: `After the last round: ${series.map(([points, , title]) => `${inSentence(title)} ${num(points[points.length - 1][1], 2)}`).join(", ")}`,
    label: `Training error by round with its upper bound. ${series.map(([points, , title]) => `${title} after the last round: ${num(points[points.length - 1][1], 2)}`).join("; ")}.`,
    height: 270,
    right: 12,
    x: { domain: extent(every.map(([round]) => round)), title: "Round" },
    y: { domain: [0, Math.max(...every.map(([, value]) => value), smallest)], title: "Share of the training rows",
      nice: true },
    marks: ({ add, x, y, right }) => {
      series.forEach(([points, hue, title]) => {
        add("path", { class: `line c-${hue}`, "stroke-dasharray": hue === "orange" && "7 3",
          d: pathThrough(points.map(([round, value]) => [x(round), y(value)])) });
        const [round, value] = points[Math.floor(points.length * 0.62)];
        add("text", { class: `halo t-${hue}`, x: Math.min(x(round), right - 40), y: y(value) - 8,
          "text-anchor": "middle" }, title);
      });
      return series.flatMap(([points, , title]) => points.map(([round, value]) => ({ x: x(round), y: y(value),
        words: `${title} ${num(value)}\nround ${whole(round)}` })));
    },
    table: () => ({ columns: ["round", ...series.map(([, , title]) => title)],
      rows: series[0][0].map(([round, value], i) =>
      [whole(round), num(value), ...series.slice(1).map(([points]) => num(points[i]?.[1]))]) }),
  });
}

function edgeChart(certificate) {
  const points = byRound(certificate, "edges");
  if (!points) return null;
  return chart({
    title: "Edge of each round",
    subtitle: "How much better than random guessing each weak learner is on its weighted rows",
    label: `Edge of each round; the smallest is ${num(Math.min(...points.map(([, edge]) => edge)), 2)}.`,
    height: 270,
    x: { domain: extent(points.map(([round]) => round)), title: "Round", pad: 0.01 },
    y: { domain: extent([0, ...points.map(([, edge]) => edge)]), title: "Edge: ½ − weighted error", nice: true },
    marks: ({ add, x, y }) => points.map(([round, edge]) => {
      add("circle", { class: "f-blue", cx: x(round), cy: y(edge), r: points.length > 120 ? 1.8 : 2.8,
        "fill-opacity": 0.7 });
      return { x: x(round), y: y(edge), words: `round ${whole(round)}\nedge ${num(edge)}` };
    }),
    table: () => ({ columns: ["round", "edge"], rows: points.map(([round, edge]) => [whole(round), num(edge)]) }),
  });
}

function marginChart(margins) {
  if (!margins?.edges) return null;
  const total = sum(Object.values(margins.counts).flat()) || 1;
  const wrong = sum(Object.values(margins.counts).flatMap((counts) => counts.filter((_,
    i) => margins.edges[i + 1] <= 1e-9)));
  return barsOver(margins, {
    title: "Histogram of margins",
    subtitle: `Orange: margins of at most 0, wrongly classified rows (${percent(wrong / total)})`,
    label: `Histogram of the margins; ${percent(wrong / total)} are at most 0.`,
    height: 270,
    across: "Margin",
    hue: (low, high) => (high <= 1e-9 ? "orange" : "blue"),
    mark: 0,
  });
}
