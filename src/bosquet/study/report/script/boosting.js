// What the rounds of a boosted vote prove: its certificate and its margins.

function boostingSection() {
  if (!WINNER || !(WINNER.certificate || WINNER.margins)) return null;
  const certificate = WINNER.certificate || {};
  const figures = [errorChart(certificate), edgeChart(certificate), marginChart(WINNER.margins)].filter(Boolean);
  return section("boosting", "Margins", "What its rounds prove",
    "The margin of a row is how clearly the vote is right on it: from −1, all wrong, to 1, all right.",
    certificateText(certificate.text),
    figures.length > 0 && h("div", { class: "grid" }, figures));
}

// The first paragraph is what is certified; the tables behind it are there for who wants them.
function certificateText(text) {
  if (!text) return null;
  const [first, ...rest] = text.split(/\n\s*\n/);
  return h("div", { class: "certificate" }, h("p", {}, first),
    rest.length > 0 && h("details", { class: "data" }, h("summary", {}, "The certificate in full"),
      h("pre", { tabindex: "0" }, rest.join("\n\n"))));
}

function byRound(certificate, name) {
  const values = certificate[name];
  if (!Array.isArray(values) || values.filter(known).length < 2) return null;
  const { rounds } = certificate;
  // A long record is thinned: its rounds are then spread evenly over the number there were.
  const last = known(rounds) ? rounds : values.length;
  const at = Array.isArray(rounds) && rounds.length === values.length
    ? rounds : values.map((_, i) => 1 + (i * (last - 1)) / (values.length - 1));
  return values.map((value, i) => [at[i], value]).filter(([, value]) => known(value));
}

function errorChart(certificate) {
  const series = [["error", "blue", "Training error"], ["bound", "orange", "Bound on it"]]
    .map(([name, hue, words]) => [byRound(certificate, name), hue, words]).filter(([points]) => points);
  if (!series.length) return null;
  const every = series.flatMap(([points]) => points);
  const smallest = Math.min(...every.map(([, value]) => value).filter((value) => value > 0));
  return chart({
    title: "Training error and what bounds it",
    subtitle: series.map(([points, , words],
      i) => `${i ? inSentence(words) : words} ${num(points[points.length - 1][1], 2)} at the end`).join(", "),
    label: `Training error by round, under its bound. ${series.map(([points, , words]) => `${words} ends at ${num(points[points.length - 1][1], 2)}`).join("; ")}.`,
    height: 270,
    right: 12,
    x: { domain: extent(every.map(([round]) => round)), title: "Rounds" },
    y: { domain: [0, Math.max(...every.map(([, value]) => value), smallest)], title: "Share of the training rows",
      nice: true },
    marks: ({ add, x, y, right }) => {
      series.forEach(([points, hue, words]) => {
        add("path", { class: `line c-${hue}`, "stroke-dasharray": hue === "orange" && "7 3",
          d: pathThrough(points.map(([round, value]) => [x(round), y(value)])) });
        const [round, value] = points[Math.floor(points.length * 0.62)];
        add("text", { class: `halo t-${hue}`, x: Math.min(x(round), right - 40), y: y(value) - 8,
          "text-anchor": "middle" }, words);
      });
      return series.flatMap(([points, , words]) => points.map(([round, value]) => ({ x: x(round), y: y(value),
        words: `${words} ${num(value)}\nround ${whole(round)}` })));
    },
    table: () => ({ columns: ["round", ...series.map(([, , words]) => words)],
      rows: series[0][0].map(([round, value], i) =>
      [whole(round), num(value), ...series.slice(1).map(([points]) => num(points[i]?.[1]))]) }),
  });
}

function edgeChart(certificate) {
  const points = byRound(certificate, "edges");
  if (!points) return null;
  return chart({
    title: "Edge of each round",
    subtitle: "How much better than a coin each weak learner was",
    label: `Edge of each round; the smallest is ${num(Math.min(...points.map(([, edge]) => edge)), 2)}.`,
    height: 270,
    x: { domain: extent(points.map(([round]) => round)), title: "Rounds", pad: 0.01 },
    y: { domain: extent([0, ...points.map(([, edge]) => edge)]), title: "Edge, ½ − error", nice: true },
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
    title: "Margins",
    subtitle: `The vote is wrong on ${percent(wrong / total)} of the rows, in orange`,
    label: `Distribution of the margins; ${percent(wrong / total)} are negative.`,
    height: 270,
    across: "Margin",
    hue: (low, high) => (high <= 1e-9 ? "orange" : "blue"),
    mark: 0,
  });
}
