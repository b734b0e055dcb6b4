// Each method's score against its complexity, as tuning saw it.

function complexitySection() {
  const curved = DONE.filter((method) => method.curve && method.curve.points.some((point) => known(point.score)));
  if (!curved.length) return null;
  const many = curved.filter((method) => new Set(method.curve.points.map((point) => point.label)).size > 1);
  const single = curved.filter((method) => !many.includes(method));
  const inside = many.filter((method) => !chosenAtEnd(method.curve)).length;
  const lead = "Too simple a model misses the pattern, too complex a one learns the noise. Each curve is the score as "
    + "tuning saw it, on training rows alone; the band is one standard error to each side, the filled dot what was chosen."
    + (many.length > 1 && inside < many.length
      ? ` ${counted(many.length - inside, "method was", "methods were")} best at an end of the range tried.` : "");
  const grid = h("div", { class: "grid" }, many.map(complexityChart));
  const rest = single.length > 0 && h("p", { class: "note" },
    `Tried at one setting only: ${single.map((method) => `${method.title} (${method.curve.points[0].label})`).join("; ")}.`);
  return section("complexity", "Complexity", "How complex should each method be?", lead, grid, rest);
}

function chosenAtEnd(curve) {
  const at = curve.points.findIndex((point) => point.chosen);
  return at === 0 || at === curve.points.length - 1;
}

function complexityChart(method) {
  const { curve } = method;
  const placed = curve.points.every((point) => known(point.complexity));
  const points = curve.points
    .map((point, index) => ({ ...point, at: placed ? point.complexity : index }))
    .filter((point) => known(point.score))
    .sort((a, b) => a.at - b.at);
  const log = placed && curve.log && points.every((point) => point.at > 0);
  const chosen = points.find((point) => point.chosen);
  const better = curve.score === METRIC.title && METRIC.higher_is_better ? Math.max : Math.min;
  // Of several settings of one complexity the line follows the best.
  const line = [...new Set(points.map((point) => point.at))].map((at) => {
    const here = points.filter((point) => point.at === at);
    const best = better(...here.map((point) => point.score));
    return here.find((point) => point.score === best);
  });
  const spread = (point) => (known(point.spread) ? point.spread : 0);
  const places = placesFor(points.map((point) => point.score));
  const told = (point) => `${point.label}\n${curve.score} ${decimal(point.score, places)}`
    + (known(point.spread) ? ` ± ${decimal(point.spread, places)}` : "") + (point.chosen ? "\nchosen" : "");
  const domain = curveDomain(points, spread, better === Math.max);
  const far = points.filter((point) => point.score < domain[0] || point.score > domain[1]).length;
  return chart({
    title: method.title,
    subtitle: `${chosen ? `${chosen.label}, ` : ""}by ${curve.by}${far ? `; ${counted(far, "setting")} beyond the axis` : ""}`,
    label: `${method.title}: ${inSentence(curve.score)} against ${curve.parameter}, by ${curve.by}. ${chosen ? `Chosen: ${chosen.label}, ${decimal(chosen.score, places)}.` : ""}`,
    height: 215,
    x: { domain: extent(points.map((point) => point.at)), log, title: curve.parameter, pad: 0.03,
      ticks: placed ? undefined : points.map((point) => [point.at, point.label]) },
    y: { domain, title: curve.score, pad: 0.05 },
    marks: ({ add, x, y }) => {
      if (line.length > 1 && line.some((point) => spread(point) > 0)) {
        add("path", { class: "band f-blue", d: bandBetween(
          line.map((point) => [x(point.at), y(inside(y, point.score - spread(point)))]),
          line.map((point) => [x(point.at), y(inside(y, point.score + spread(point)))])) });
      }
      add("path", { class: "line c-blue", d: pathThrough(line.map((point) => [x(point.at), heightAt(y, point)])) });
      for (const point of points) {
        if (point !== chosen) add("circle", { class: beyondAxis(y, point) ? "open c-grey" : "open c-blue",
          cx: x(point.at), cy: heightAt(y, point), r: points.length > 40 ? 1.5 : 3 },
        beyondAxis(y, point) && s("title", {}, "beyond the axis"));
      }
      if (chosen) add("circle", { class: "f-blue", cx: x(chosen.at), cy: y(chosen.score), r: 6 });
      return points.map((point) => ({ x: x(point.at), y: heightAt(y, point),
        words: told(point) + (beyondAxis(y, point) ? "\nbeyond the axis" : "") }));
    },
    table: () => ({ columns: [curve.parameter, curve.score, "standard error", "chosen"],
      rows: points.map((point) => [point.label, decimal(point.score, places), decimal(point.spread, places),
        point.chosen ? "yes" : ""]) }),
  });
}

const inside = (scale, value) => Math.min(Math.max(value, scale.domain[0]), scale.domain[1]);
const heightAt = (scale, point) => scale(inside(scale, point.score));
const beyondAxis = (scale, point) => inside(scale, point.score) !== point.score;

/* The curve, with the bands where they do not dwarf it. Settings many times worse than the best, as one
   neighbour often is, would flatten all others: they stay at the edge of the axis unless they are the most. */
function curveDomain(points, spread, highIsBetter) {
  const scores = points.map((point) => point.score);
  const best = (highIsBetter ? Math.max : Math.min)(...scores);
  const near = scores.filter((score) => Math.abs(score - best) <= 2 * Math.abs(best));
  const [closest, farthest] = extent(near);
  if (near.length < scores.length && near.length >= scores.length / 2 && farthest > closest) {
    const more = 0.4 * (farthest - closest);
    return highIsBetter ? [closest - more, farthest] : [closest, farthest + more];
  }
  const [low, high] = extent(scores);
  const room = Math.max((high - low) / 2, Math.abs(high) * 0.002);
  return extent(points.flatMap((point) => [
    Math.max(point.score - spread(point), low - room), Math.min(point.score + spread(point), high + room)]));
}
