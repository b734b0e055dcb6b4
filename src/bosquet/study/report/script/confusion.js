// The confusion matrix of any number of classes, and which mistakes are commonest.

function confusionPanel(method) {
  const counts = method.test.confusion;
  if (!counts?.length) return h("p", { class: "note" }, "This method has no decisions to show.");
  const classes = counts.map((_, i) => RECORD.classes[i] ?? String(i));
  const totals = counts.map((row) => sum(row));
  return h("div", { class: "decide" },
    confusionFigure(method, classes, counts, totals),
    h("div", {}, commonest(classes, counts, totals), classTable(classes, counts, totals)));
}

function confusionFigure(method, classes, counts, totals) {
  const told = (i, j) => `is “${classes[i]}”, called “${classes[j]}”\n${counted(counts[i][j], "row")}, ${percent(totals[i] ? counts[i][j] / totals[i] : 0)} of the class`;
  const right = sum(counts.map((row, i) => row[i]));
  return figureOf({
    title: "Truth by row, decision by column",
    subtitle: `${percent(right / sum(totals))} of ${counted(sum(totals), "test row")} rightly classified`,
    label: `Confusion matrix of ${method.title} over ${classes.length} classes: ${percent(right / sum(totals))} rightly classified.`,
    height: (width) => {
      const { cell, head } = matrixLayout(classes, width);
      return head + cell * classes.length + 4;
    },
    draw: (svg, width) => drawMatrix(svg, width, classes, counts, totals, told),
    table: () => ({ columns: ["is / called", ...classes],
      rows: counts.map((row, i) => [classes[i], ...row.map(whole)]) }),
  });
}

function matrixLayout(classes, width) {
  const widest = Math.max(...classes.map((name) => wordsWidth(name)));
  const side = Math.min(Math.ceil(widest) + 10, width * 0.3);
  const cell = Math.min((width - side) / classes.length, 84);
  const upright = widest > cell - 6;
  return { side, cell, upright, head: upright ? Math.min(Math.ceil(widest), 90) + 10 : 22, widest };
}

function drawMatrix(svg, width, classes, counts, totals, told) {
  const { side, cell, upright, head } = matrixLayout(classes, width);
  const points = [];
  const named = cell >= 11;
  classes.forEach((name, i) => {
    const middle = (i + 0.5) * cell;
    if (named) {
      svg.append(s("text", { x: side - 6, y: head + middle + 4, "text-anchor": "end" }, fitted(name, side - 8),
        s("title", {}, name)));
      const column = upright
        ? { transform: `translate(${side + middle + 4} ${head - 6}) rotate(-90)` }
        : { x: side + middle, y: head - 7, "text-anchor": "middle" };
      svg.append(s("text", column, fitted(name, upright ? 86 : cell - 2), s("title", {}, name)));
    }
    counts[i].forEach((count, j) => {
      const [x, y] = [side + j * cell, head + i * cell];
      const share = totals[i] ? count / totals[i] : 0;
      // Mistakes are rarer than right answers; the root lets the few be seen.
      svg.append(s("rect", { class: i === j ? "cell" : "cell against", x, y, width: cell, height: cell,
        vars: { "--v": (i === j ? share : Math.sqrt(share)).toFixed(3) } }));
      if (wordsWidth(whole(count)) < cell - 4 && (count || cell > 34)) {
        svg.append(s("text", { class: "cell-text", x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" },
          whole(count)));
      }
      points.push({ x: x + cell / 2, y: y + cell / 2, words: told(i, j) });
    });
  });
  return points;
}

function commonest(classes, counts, totals) {
  const mistakes = counts
    .flatMap((row, i) => row.map((count, j) => ({ i, j, count })))
    .filter(({ i, j, count }) => i !== j && count > 0)
    .sort((a, b) => b.count - a.count);
  if (!mistakes.length) return h("p", {}, "No test row was classified wrongly.");
  const rows = mistakes.slice(0, 6).map(({ i, j, count }) =>
    [`“${shortened(classes[i], 24)}” called “${shortened(classes[j], 24)}”`, whole(count), percent(count / totals[i])]);
  return [h("h3", {}, "Commonest mistakes"), plainTable(["Mistake", "Rows", "Of the class"], rows,
    "Commonest mistakes")];
}

function classTable(classes, counts, totals) {
  const called = classes.map((_, j) => sum(counts.map((row) => row[j])));
  const rows = classes.map((name, i) => [shortened(name, 28), whole(totals[i]),
    percent(totals[i] ? counts[i][i] / totals[i] : NaN), percent(called[i] ? counts[i][i] / called[i] : NaN)]);
  return h("div", { class: "sub" }, h("h3", {}, "Class by class"),
    h("div", { class: "scroller tall", tabindex: "0", role: "region",
      "aria-label": "Recall and precision of each class" },
      plainTable(["Class", "Rows", "Recall", "Precision"], rows, "Recall and precision of each class")));
}
