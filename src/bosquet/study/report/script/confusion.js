// The confusion matrix of several classes, with the most frequent errors and the recall and precision per class.

function confusionPanel(method) {
  const counts = method.test.confusion;
  if (!counts?.length) return h("p", { class: "note" }, "There is no confusion matrix for this method.");
  const classes = counts.map((_, i) => RECORD.classes[i] ?? String(i));
  const totals = counts.map((row) => sum(row));
  return h("div", { class: "decide" },
    confusionFigure(method, classes, counts, totals),
    h("div", {}, frequentErrors(classes, counts, totals), classTable(classes, counts, totals)));
}

function confusionFigure(method, classes, counts, totals) {
  const cellText = (i, j) => `true class “${classes[i]}”, predicted “${classes[j]}”\n${counted(counts[i][j], "row")}, ${percent(totals[i] ? counts[i][j] / totals[i] : 0)} of the true class`;
  const right = sum(counts.map((row, i) => row[i]));
  return figureOf({
    title: "Rows: true class; columns: predicted class",
    subtitle: `${percent(right / sum(totals))} of ${counted(sum(totals), "test row")} classified correctly`,
    label: `Confusion matrix of ${method.title} over ${classes.length} classes: ${percent(right / sum(totals))} classified correctly.`,
    height: (width) => {
      const { cell, head } = matrixLayout(classes, width);
      return head + cell * classes.length + 4;
    },
    draw: (svg, width) => drawMatrix(svg, width, classes, counts, totals, cellText),
    table: () => ({ columns: ["true / predicted", ...classes],
      rows: counts.map((row, i) => [classes[i], ...row.map(whole)]) }),
  });
}

function matrixLayout(classes, width) {
  const widest = Math.max(...classes.map((name) => textWidth(name)));
  const side = Math.min(Math.ceil(widest) + 10, width * 0.3);
  const cell = Math.min((width - side) / classes.length, 84);
  const upright = widest > cell - 6;
  return { side, cell, upright, head: upright ? Math.min(Math.ceil(widest), 90) + 10 : 22, widest };
}

function drawMatrix(svg, width, classes, counts, totals, cellText) {
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
      // The square root makes rare errors visible.
      svg.append(s("rect", { class: i === j ? "cell" : "cell against", x, y, width: cell, height: cell,
        vars: { "--v": (i === j ? share : Math.sqrt(share)).toFixed(3) } }));
      if (textWidth(whole(count)) < cell - 4 && (count || cell > 34)) {
        svg.append(s("text", { class: "cell-text", x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" },
          whole(count)));
      }
      points.push({ x: x + cell / 2, y: y + cell / 2, words: cellText(i, j) });
    });
  });
  return points;
}

function frequentErrors(classes, counts, totals) {
  const errors = counts
    .flatMap((row, i) => row.map((count, j) => ({ i, j, count })))
    .filter(({ i, j, count }) => i !== j && count > 0)
    .sort((a, b) => b.count - a.count);
  if (!errors.length) return h("p", {}, "All test rows are classified correctly.");
  const rows = errors.slice(0, 6).map(({ i, j, count }) =>
    [`“${shortened(classes[i], 24)}” as “${shortened(classes[j], 24)}”`, whole(count), percent(count / totals[i])]);
  return [h("h3", {}, "Most frequent errors"), plainTable(["True class as predicted class", "Rows",
    "Share of the true class"], rows, "Most frequent errors")];
}

function classTable(classes, counts, totals) {
  const predicted = classes.map((_, j) => sum(counts.map((row) => row[j])));
  const rows = classes.map((name, i) => [shortened(name, 28), whole(totals[i]),
    percent(totals[i] ? counts[i][i] / totals[i] : NaN), percent(predicted[i] ? counts[i][i] / predicted[i] : NaN)]);
  return h("div", { class: "sub" }, h("h3", {}, "Recall and precision per class"),
    h("div", { class: "scroller tall", tabindex: "0", role: "region",
      "aria-label": "Recall and precision per class" },
      plainTable(["Class", "Rows", "Recall", "Precision"], rows, "Recall and precision per class")));
}
