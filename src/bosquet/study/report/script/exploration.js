// The data: findings, distribution of the target, missing values, correlations.

const SEVERITIES = { high: "Warning", medium: "Check", low: "Note" };

function explorationSection() {
  const { exploration } = RECORD;
  const high = exploration.warnings.filter((finding) => finding.severity === "high").length;
  const medium = exploration.warnings.filter((finding) => finding.severity === "medium").length;
  const verdict = high ? `${counted(high, "warning", "warnings")} should be checked before the model is used.`
    : medium ? `No warnings, but ${counted(medium, "finding")} to check.` : "There are no warnings.";
  const lead = `${counted(exploration.n_rows, "row")} and ${counted(exploration.n_columns, "column")}`
    + `${exploration.duplicates ? `, ${counted(exploration.duplicates, "duplicate row")}` : ", no duplicate rows"}. ${verdict}`;
  return section("data", "Data", "The data", lead,
    findingsPart(exploration.warnings),
    h("div", { class: "overview sub" },
      h("div", {}, targetFigure(exploration.target), missingFigure(exploration)),
      h("div", {}, correlationFigure(exploration.correlations))),
    columnsPart());
}

function findingsPart(findings) {
  if (!findings.length) return null;
  const order = Object.keys(SEVERITIES);
  const sorted = [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  const first = 8;
  const list = h("ul", { class: "findings" });
  const show = (all) => clear(list).append(...(all ? sorted : sorted.slice(0, first)).map((finding) => h("li",
    { "data-severity": finding.severity },
    h("span", { class: `severity ${order.includes(finding.severity) ? finding.severity : "low"}` },
      SEVERITIES[finding.severity] || finding.severity),
    h("span", {}, finding.message))));
  show(false);
  const button = sorted.length > first && h("button", { type: "button", class: "more",
    on: { click: (event) => { show(true); event.target.remove(); } } }, `Show all ${sorted.length} findings`);
  return h("div", {}, list, button);
}

function targetFigure(target) {
  const title = `Distribution of the target “${shortened(RECORD.target, 40)}”`;
  const counts = Object.values(target.counts || {})[0];
  if (!counts || !sum(counts)) return null;
  if (target.edges) {
    return barsOver(target, { title, label: `Distribution of ${RECORD.target}`, height: 240, across: RECORD.target,
      hue: () => "blue" });
  }
  const total = sum(counts);
  const levels = target.levels || counts.map((_, i) => String(i));
  const line = levels.length > 12 ? 18 : 30;
  return figureOf({
    title,
    label: `Rows of each class: ${levels.slice(0, 12).map((level, i) => `${level} ${percent(counts[i] / total)}`).join(", ")}.`,
    height: levels.length * line + 8,
    draw: (svg, width) => {
      const side = Math.min(Math.ceil(Math.max(...levels.map((level) => textWidth(level, "13px")))) + 12, width * 0.4);
      const most = Math.max(...counts);
      return levels.map((level, i) => {
        const middle = (i + 0.5) * line + 2;
        const wide = (counts[i] / most) * Math.max(width - side - 110, 40);
        const text = `${whole(counts[i])} (${percent(counts[i] / total)})`;
        svg.append(s("text", { class: "ink", x: side - 8, y: middle + 4, "text-anchor": "end" },
          fitted(level, side - 10), s("title", {}, level)),
          s("rect", { class: `f-${hueOf(level)}`, x: side, y: middle - line * 0.34, width: Math.max(wide, 1),
            height: line * 0.68 }),
          s("text", { x: side + wide + 6, y: middle + 4 }, text));
        return { x: side + wide, y: middle, words: `${level}\n${text}` };
      });
    },
    table: () => ({ columns: ["class", "rows", "share"],
      rows: levels.map((level, i) => [level, whole(counts[i]), percent(counts[i] / total)]) }),
  });
}

function missingFigure({ columns, n_rows: rows }) {
  const incomplete = columns.filter((column) => column.missing > 0).sort((a, b) => b.missing - a.missing);
  if (!incomplete.length || !rows) return null;
  const shown = incomplete.slice(0, 12);
  const line = 24;
  return figureOf({
    title: "Missing values",
    subtitle: incomplete.length > shown.length
      ? `The ${shown.length} columns with most missing values, of ${incomplete.length} with any`
      : `${counted(incomplete.length, "column")} of ${columns.length}`,
    label: `Share of missing values: ${shown.map((column) => `${column.name} ${percent(column.missing / rows)}`).join(", ")}.`,
    height: shown.length * line + 8,
    draw: (svg, width) => {
      const side = Math.min(Math.ceil(Math.max(...shown.map((column) => textWidth(column.name, "13px")))) + 12,
        width * 0.4);
      const barWidth = width - side - 60;
      return shown.map((column, i) => {
        const middle = (i + 0.5) * line + 2;
        const share = column.missing / rows;
        svg.append(s("text", { class: "ink", x: side - 8, y: middle + 4, "text-anchor": "end" },
          fitted(column.name, side - 10), s("title", {}, column.name)),
          s("rect", { x: side, y: middle - 7, width: barWidth, height: 14, fill: "var(--grid)" }),
          s("rect", { class: "f-orange", x: side, y: middle - 7, width: Math.max(share * barWidth, 1), height: 14 }),
          s("text", { x: side + barWidth + 6, y: middle + 4 }, percent(share)));
        return { x: side + share * barWidth, y: middle,
          words: `${column.name}\n${counted(column.missing, "value")} missing, ${percent(share)}` };
      });
    },
    table: () => ({ columns: ["column", "missing", "share"],
      rows: incomplete.map((column) => [column.name, whole(column.missing), percent(column.missing / rows)]) }),
  });
}

function correlationFigure(correlations) {
  const names = correlations?.names || [];
  if (names.length < 2) return null;
  const { matrix } = correlations;
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map((b, j) => [a, b, matrix[i][i + 1 + j]])).filter(([, ,
    r]) => isNumber(r))
    .sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
  const layout = (width) => {
    const side = Math.min(Math.ceil(Math.max(...names.map((name) => textWidth(name)))) + 10, width * 0.34);
    const cell = Math.min((width - side) / names.length, 46);
    return { side, cell, head: cell >= 12 ? Math.min(side, 120) : 4 };
  };
  return figureOf({
    title: "Correlations",
    subtitle: pairs.length
      ? `Spearman rank correlations; blue is positive, orange negative. Strongest: ${pairs[0][0]} and ${pairs[0][1]}, ${decimal(pairs[0][2], 2)}` : null,
    label: `Rank correlations of ${names.length} columns. Strongest: ${pairs.slice(0, 4).map(([a, b, r]) => `${a} and ${b} ${decimal(r, 2)}`).join("; ")}.`,
    height: (width) => { const { cell, head } = layout(width); return head + cell * names.length + 4; },
    draw: (svg, width) => {
      const { side, cell, head } = layout(width);
      return names.flatMap((name, i) => {
        const middle = (i + 0.5) * cell;
        if (cell >= 12) {
          svg.append(s("text", { x: side - 6, y: head + middle + 4, "text-anchor": "end" }, fitted(name, side - 8),
            s("title", {}, name)),
            s("text", { transform: `translate(${side + middle + 4} ${head - 6}) rotate(-90)` },
              fitted(name, head - 8), s("title", {}, name)));
        }
        return names.map((other, j) => {
          const r = matrix[i][j];
          const [x, y] = [side + j * cell, head + i * cell];
          svg.append(s("rect", { class: r < 0 ? "cell against" : "cell", x, y, width: cell, height: cell,
            vars: { "--v": isNumber(r) ? Math.abs(r).toFixed(3) : "0" } }));
          if (cell >= 32 && isNumber(r) && i !== j) svg.append(s("text",
            { class: "cell-text", x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" }, decimal(r, 2)));
          return { x: x + cell / 2, y: y + cell / 2, words: `${name}, ${other}\n${decimal(r, 2)}` };
        });
      });
    },
    table: () => ({ columns: ["columns", "correlation"],
      rows: pairs.slice(0, 200).map(([a, b, r]) => [`${a}, ${b}`, decimal(r, 2)]) }),
  });
}
