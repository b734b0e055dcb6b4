// Validation curves: the score of each method against its complexity.

function complexitySection() {
  const curved = DONE.filter((method) => method.curve && method.curve.points.some((point) => isNumber(point.score)));
  if (!curved.length) return null;
  const many = curved.filter((method) => new Set(method.curve.points.map((point) => point.label)).size > 1);
  const single = curved.filter((method) => !many.includes(method));
  const inside = many.filter((method) => !chosenAtEnd(method.curve)).length;
  const lead = "A model that is too simple underfits, one that is too complex overfits. Each curve is the validation score "
    + "on the training rows; the band is one standard error to each side, the filled dot is the chosen candidate."
    + (many.length > 1 && inside < many.length
      ? ` ${counted(many.length - inside, "method is", "methods are")} best at an end of the range of candidates.` : "");
  const grid = h("div", { class: "grid" }, many.map(complexityChart));
  const rest = single.length > 0 && h("p", { class: "note" },
    `Methods with a single candidate: ${single.map((method) => `${method.title} (${method.curve.points[0].label})`).join("; ")}.`);
  return section("complexity", "Tuning", "Tuning: score against complexity", lead, grid, rest);
}

function chosenAtEnd(curve) {
  const at = curve.points.findIndex((point) => point.chosen);
  return at === 0 || at === curve.points.length - 1;
}

// The validation scheme of a curve, for use after "by".
const schemeName = ({ by }) => ({ "out of bag": "out-of-bag predictions", "validation rows": "a validation set" }[by] || by);

function complexityChart(method) {
  const { curve } = method;
  const placed = curve.points.every((point) => isNumber(point.complexity));
  const points = curve.points
    .map((point, index) => ({ ...point, at: placed ? point.complexity : index }))
    .filter((point) => isNumber(point.score))
    .sort((a, b) => a.at - b.at);
  const log = placed && curve.log && points.every((point) => point.at > 0);
  const chosen = points.find((point) => point.chosen);
  const better = curve.score === METRIC.title && METRIC.higher_is_better ? Math.max : Math.min;
  // If several candidates have the same complexity, the line passes through the best.
  const line = [...new Set(points.map((point) => point.at))].map((at) => {
    const here = points.filter((point) => point.at === at);
    const best = better(...here.map((point) => point.score));
    return here.find((point) => point.score === best);
  });
  const standardError = (point) => (isNumber(point.standard_error) ? point.standard_error : 0);
  const places = placesFor(points.map((point) => point.score));
  const pointText = (point) => `${point.label}\n${curve.score} ${decimal(point.score, places)}`
    + (isNumber(point.standard_error) ? ` ± ${decimal(point.standard_error, places)}` : "") + (point.chosen ? "\nchosen" : "");
  const domain = curveDomain(points, standardError, better === Math.max);
  const far = points.filter((point) => point.score < domain[0] || point.score > domain[1]).length;
  return chart({
    title: method.title,
    subtitle: `${chosen ? `${chosen.label}, ` : ""}by ${schemeName(curve)}${far ? `; ${counted(far, "candidate")} outside the axis` : ""}`,
    label: `${method.title}: ${inSentence(curve.score)} against ${curve.parameter}, by ${schemeName(curve)}. ${chosen ? `Chosen: ${chosen.label}, ${decimal(chosen.score, places)}.` : ""}`,
    height: 215,
    x: { domain: extent(points.map((point) => point.at)), log, title: curve.parameter, pad: 0.03,
      ticks: placed ? undefined : points.map((point) => [point.at, point.label]) },
    y: { domain, title: curve.score, pad: 0.05 },
    marks: ({ add, x, y }) => {
      if (line.length > 1 && line.some((point) => standardError(point) > 0)) {
        add("path", { class: "band f-blue", d: bandBetween(
          line.map((point) => [x(point.at), y(inside(y, point.score - standardError(point)))]),
          line.map((point) => [x(point.at), y(inside(y, point.score + standardError(point)))])) });
      }
      add("path", { class: "line c-blue", d: pathThrough(line.map((point) => [x(point.at), heightAt(y, point)])) });
      for (const point of points) {
        if (point !== chosen) add("circle", { class: outsideAxis(y, point) ? "open c-grey" : "open c-blue",
          cx: x(point.at), cy: heightAt(y, point), r: points.length > 40 ? 1.5 : 3 },
        outsideAxis(y, point) && s("title", {}, "outside the axis"));
      }
      if (chosen) add("circle", { class: "f-blue", cx: x(chosen.at), cy: y(chosen.score), r: 6 });
      return points.map((point) => ({ x: x(point.at), y: heightAt(y, point),
        words: pointText(point) + (outsideAxis(y, point) ? "\noutside the axis" : "") }));
    },
    table: () => ({ columns: [curve.parameter, curve.score, "standard error", "chosen"],
      rows: points.map((point) => [point.label, decimal(point.score, places), decimal(point.standard_error, places),
        point.chosen ? "yes" : ""]) }),
  });
}

const inside = (scale, value) => Math.min(Math.max(value, scale.domain[0]), scale.domain[1]);
const heightAt = (scale, point) => scale(inside(scale, point.score));
const outsideAxis = (scale, point) => inside(scale, point.score) !== point.score;

/* The range of the vertical axis: all scores, and the bands up to half of the range of scores. Candidates that are many
   times worse than the best would flatten the curve; unless they are the majority, they are drawn at the edge. */
function curveDomain(points, standardError, highIsBetter) {
  const scores = points.map((point) => point.score);
  const best = (highIsBetter ? Math.max : Math.min)(...scores);
  const near = scores.filter((score) => Math.abs(score - best) <= 2 * Math.abs(best));
  const [closest, farthest] = extent(near);
  if (near.length < scores.length && near.length >= scores.length / 2 && farthest > closest) {
    const more = 0.4 * (farthest - closest);
    return highIsBetter ? [closest - more, farthest] : [closest, farthest + more];
  }
  const [low, high] = extent(scores);
  const margin = Math.max((high - low) / 2, Math.abs(high) * 0.002);
  return extent(points.flatMap((point) => [
    Math.max(point.score - standardError(point), low - margin), Math.min(point.score + standardError(point), high + margin)]));
}
