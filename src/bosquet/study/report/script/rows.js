// Single test rows: largest errors, outliers and typical rows, with the Shapley values of their predictions.

const KINDS = { worst: "Largest errors", outlier: "Outliers", typical: "Typical rows" };
const MAX_REASONS = 12;
const OTHERS = "(all others)";

function rowsSection() {
  const rows = CHOSEN?.rows || [];
  if (!rows.length) return null;
  const present = Object.keys(KINDS).filter((kind) => rows.some((row) => row.kind === kind));
  const state = { kind: present.length > 1 ? present[0] : "all", search: "", truth: "", chosen: null };
  const list = h("div", { class: "row-list", tabindex: "-1" });
  const detail = h("div", { class: "row-detail", "aria-live": "polite" });
  const found = h("p", { class: "note", role: "status" });
  const choose = (row) => {
    state.chosen = row;
    clear(detail).append(rowDetail(row));
  };
  const show = () => {
    const matching = rows.filter((row) => rowMatches(row, state));
    found.textContent = matching.length ? `${counted(matching.length, "row")} of ${rows.length}` : "No row matches.";
    if (!matching.includes(state.chosen)) {
      if (matching.length) choose(matching[0]);
      else { state.chosen = null; clear(detail); }
    }
    clear(list).append(rowTable(matching, state, choose));
  };
  const set = (key) => (value) => { state[key] = value; show(); };
  const truths = [...new Set(rows.map((row) => row.truth))].sort();
  const controls = h("div", { class: "controls" },
    present.length > 1 && choices("Kind of row", [...present.map((kind) => [kind, KINDS[kind]]), ["all", "All rows"]],
      state.kind, set("kind")),
    searchField("Search values", set("search")),
    RECORD.task !== "regression" && truths.length > 1 && chooser("True class",
      [["", "any"], ...truths.map((name) => [name, name])], "", set("truth")));
  show();
  return section("rows", "Rows", "Explanation of single rows",
    `Select a row to see how its values change the prediction. The effects are Shapley values, ${RECORD.task === "regression" ? "in units of the target" : "for the predicted class, on the raw scale of the model (for example log-odds)"}. ${CHOSEN.rows_called || ""}`.trim(),
    controls, h("div", { class: "explorer" }, h("div", {}, list, found), detail));
}

function rowMatches(row, { kind, search, truth }) {
  if (kind !== "all" && row.kind !== kind) return false;
  if (truth && row.truth !== truth) return false;
  const sought = search.trim().toLowerCase();
  if (!sought) return true;
  const texts = [String(row.row), row.truth, row.prediction,
    ...Object.entries(row.values).map(([name, value]) => `${name} ${value} ${name}=${value}`)];
  return texts.some((text) => String(text).toLowerCase().includes(sought));
}

function rowTable(rows, state, choose) {
  const loss = RECORD.task === "regression" ? "Absolute error" : "Loss";
  const scored = state.kind === "outlier" ? "Outlier score" : state.kind === "all" ? `${loss} or outlier score` : loss;
  const places = placesFor(rows.map((row) => row.score));
  const body = h("tbody", {}, rows.map((row, i) => h("tr",
    { tabindex: row === state.chosen ? "0" : "-1", "aria-selected": String(row === state.chosen), "data-index": i },
    h("th", { scope: "row" }, String(row.row)), h("td", { title: row.truth }, row.truth),
      h("td", { title: row.prediction }, row.prediction),
    h("td", { class: "number" }, decimal(row.score, places)))));
  const pick = (index) => {
    const to = body.rows[index];
    if (!to) return;
    for (const other of body.rows) { other.setAttribute("aria-selected",
      String(other === to)); other.tabIndex = other === to ? 0 : -1; }
    choose(rows[index]);
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "nearest" });
  };
  body.addEventListener("click", (event) => {
    const to = event.target.closest("tr");
    if (to) pick(Number(to.dataset.index));
  });
  body.addEventListener("keydown", (event) => {
    const at = Number(event.target.closest("tr")?.dataset.index);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, Enter: at, " ": at }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    pick(to);
  });
  return h("table", { role: "grid" }, h("caption", { class: "hidden" }, "Test rows"),
    h("thead", {}, h("tr", {}, ["Row", "True", "Predicted"].map((title) => h("th", { scope: "col" }, title)),
      h("th", { scope: "col", class: "number" }, scored))), body);
}

function rowDetail(row) {
  const values = Object.entries(row.values);
  return [
    h("h3", {}, `Row ${row.row}: true ${shortened(row.truth, 40)}, predicted ${shortened(row.prediction, 40)}`),
    row.reasons.length > 0 ? waterfall(row) : h("p", { class: "note" }, "There is no explanation of this row."),
    values.length > 0 && h("details", { class: "data" }, h("summary", {}, `All values of the row (${values.length})`),
      h("dl", { class: "row-values" }, values.map(([name, value]) =>
        h("div", {}, h("dt", { title: name }, name), h("dd", { title: value }, value))))),
  ].flat().filter(Boolean).reduce((holder, child) => { holder.append(child); return holder; }, h("div", {}));
}

// One step per large effect; the other effects are one step, so that the steps end at the prediction.
function stepsOf(row) {
  const reasons = row.reasons.filter((reason) => isNumber(reason.effect) && reason.effect !== 0);
  const own = reasons.filter((reason) => reason.feature !== OTHERS);
  const shown = own.length > MAX_REASONS ? own.slice(0, MAX_REASONS - 1) : own;
  const rest = reasons.filter((reason) => !shown.includes(reason));
  const steps = shown.map((reason) => ({ words: `${reason.feature} = ${reason.value}`, effect: reason.effect }));
  if (rest.length) steps.push({ words: "all other columns", effect: sum(rest.map((reason) => reason.effect)) });
  let at = row.base;
  return steps.map((step) => ({ ...step, from: at, to: (at += step.effect) }));
}

function waterfall(row) {
  const steps = stepsOf(row);
  const end = steps.length ? steps[steps.length - 1].to : row.base;
  const line = 27;
  const places = Math.max(placesFor(steps.map((step) => step.effect)) - 1, 0);
  const signed = (effect) => `${effect > 0 ? "+" : ""}${decimal(effect, places)}`;
  return figureOf({
    subtitle: `From the average prediction, ${num(row.base)}, to ${num(end)}`,
    label: `Shapley values: from ${num(row.base)} to ${num(end)}. ${steps.slice(0, 6).map((step) => `${step.words}: ${signed(step.effect)}`).join("; ")}.`,
    height: (steps.length + 2) * line + 30,
    draw: (svg, width, height) => {
      const side = Math.min(Math.ceil(Math.max(...steps.map((step) => textWidth(step.words)), 90)) + 12, width * 0.46);
      const beside = Math.max(...steps.map((step) => textWidth(signed(step.effect), "600 12px")), 30) + 12;
      const x = scaleOver({ domain: extent([row.base, ...steps.map((step) => step.to)]) }, side + beside,
        width - beside, width > 500 ? 4 : 2);
      const bottom = height - 24;
      for (const [value, words] of x.ticks) {
        svg.append(s("line", { class: "gridline", x1: x(value), x2: x(value), y1: 0, y2: bottom }),
          s("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, words));
      }
      const stop = (text, value, i) => {
        const middle = (i + 0.5) * line;
        svg.append(s("text", { class: "strong", x: side - 6, y: middle + 4, "text-anchor": "end" }, text),
          s("circle", { class: "f-grey", cx: x(value), cy: middle, r: 5 }),
          s("text", { class: "strong halo", x: x(value) + 10, y: middle + 4 }, num(value)));
        return { x: x(value), y: middle, words: `${text}: ${num(value)}` };
      };
      const points = [stop("average", row.base, 0)];
      steps.forEach((step, i) => points.push(waterfallStep(svg, step, x, i + 1, line, side, signed)));
      points.push(stop("prediction", end, steps.length + 1));
      return points;
    },
    table: () => ({ columns: ["value", "effect", "cumulative sum"],
      rows: steps.map((step) => [step.words, signed(step.effect), num(step.to)]) }),
  });
}

function waterfallStep(svg, step, x, place, line, side, signed) {
  const middle = (place + 0.5) * line;
  const hue = step.effect >= 0 ? "orange" : "blue";
  const [left, right] = [Math.min(x(step.from), x(step.to)), Math.max(x(step.from), x(step.to))];
  svg.append(
    s("line", { class: "guide", x1: x(step.from), x2: x(step.from), y1: middle - line, y2: middle }),
    s("text", { class: "ink", x: side - 6, y: middle + 4, "text-anchor": "end" }, fitted(step.words, side - 8),
      s("title", {}, step.words)),
    s("rect", { class: `f-${hue}`, x: left, y: middle - 8, width: Math.max(right - left, 1.5), height: 16 }),
    step.effect >= 0
      ? s("text", { class: `halo t-${hue}`, x: right + 5, y: middle + 4 }, signed(step.effect))
      : s("text", { class: `halo t-${hue}`, x: left - 5, y: middle + 4, "text-anchor": "end" }, signed(step.effect)));
  return { x: x(step.to), y: middle, words: `${step.words}\neffect ${signed(step.effect)}, sum ${num(step.to)}` };
}
