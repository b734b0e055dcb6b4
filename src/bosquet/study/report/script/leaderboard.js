// Makes the leaderboard, which is part of the HTML, sortable, and its rows expandable.

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    if (!head.dataset.sort) continue;
    const content = [...head.childNodes];
    head.replaceChildren(h("button", { type: "button", on: { click: () => sortBy(head) } }, content));
  }
  function sortBy(head) {
    const ascending = head.getAttribute("aria-sort") !== "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const place = heads.indexOf(head);
    const asNumbers = head.dataset.sort === "number";
    const valueOf = (row) => row.cells[place]?.dataset.value ?? "";
    const rows = [...body.rows].filter((row) => !row.classList.contains("more-of"));
    const followers = new Map(rows.map((row) => [row,
      row.nextElementSibling?.classList.contains("more-of") ? row.nextElementSibling : null]));
    rows.sort((a, b) => {
      // Methods without a score are always last.
      const absent = a.classList.contains("absent") - b.classList.contains("absent");
      const [left, right] = [valueOf(a), valueOf(b)];
      if (absent || left === "" || right === "") return absent || (left === "") - (right === "");
      const order = asNumbers ? Number(left) - Number(right) : left.localeCompare(right);
      return ascending ? order : -order;
    });
    for (const row of rows) body.append(...[row, followers.get(row)].filter(Boolean));
  }
  return sortBy;
}

function openLeaderboard() {
  const table = document.getElementById("board");
  sortable(table);
  const first = [...table.tHead.rows[0].cells].find((cell) => cell.dataset.key === "score");
  first?.setAttribute("aria-sort", METRIC.higher_is_better ? "descending" : "ascending");
  for (const row of [...table.tBodies[0].rows]) {
    const method = RECORD.methods.find((candidate) => candidate.name === row.dataset.name);
    if (method && method.status === "done") makeExpandable(row, method);
  }
  const metrics = metricsTable();
  if (metrics) document.getElementById("leaderboard").append(metrics);
}

function makeExpandable(row, method) {
  const cell = row.cells[0];
  const name = cell.querySelector(".name");
  const button = h("button", { type: "button", class: "expand", "aria-expanded": "false" });
  name.replaceWith(button);
  button.append(name);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) row.nextElementSibling.remove();
    else row.after(h("tr", { class: "more-of" }, h("td", { colspan: row.cells.length }, aboutMethod(method))));
  });
}

function aboutMethod(method) {
  const places = placesFor(method.scores.length > 1 ? method.scores : [method.mean]);
  const facts = {
    "training rows": method.rows_used,
    "time of tuning and fitting": duration(method.fit_seconds),
    "prediction time per row": microseconds(method.predict_microseconds),
    "score on each split": method.scores.map((score) => decimal(score, places)).join(", ") || NOTHING,
  };
  const difference = method.difference;
  if (difference && isNumber(difference.low)) {
    facts["difference to the best"] = `${num(difference.mean)} (${num(difference.low)} to ${num(difference.high)})`;
  }
  return [
    method.message && h("p", {}, method.message),
    pairsList(facts),
    Object.keys(method.setting).length > 0 && [h("h3", {}, "Hyper-parameters chosen on the first split"),
      pairsList(method.setting)],
    Object.keys(method.details).length > 0 && [h("h3", {}, "Fitted model"), pairsList(method.details)],
  ];
}

function metricsTable() {
  const metrics = RECORD.metrics.filter((metric) => DONE.some((method) => isNumber(method.metrics[metric.name])));
  if (metrics.length < 2) return null;
  const column = metrics.map((metric) => {
    const values = DONE.map((method) => method.metrics[metric.name]);
    const [low, high] = extent(values);
    return { metric, places: placesFor(values), best: metric.higher_is_better ? high : low };
  });
  const table = h("table", { class: "metrics" },
    h("caption", { class: "hidden" }, "All metrics"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", "data-sort": "text" }, "Method"), column.map(({ metric }) =>
      h("th", { scope: "col", "data-sort": "number",
        title: metric.higher_is_better ? "higher is better" : "lower is better" },
        metric.title)))),
    h("tbody", {}, DONE.map((method) => h("tr", {},
      h("th", { scope: "row", "data-value": method.title, title: method.title }, shortened(method.title, 30)),
      column.map(({ metric, places, best }) => {
        const value = method.metrics[metric.name];
        return h("td", { "data-value": isNumber(value) ? value : "", class: value === best && "top" },
          decimal(value, places));
      })))));
  sortable(table);
  const lower = metrics.filter((metric) => !metric.higher_is_better).map((metric) => inSentence(metric.title));
  const where = RECORD.repeats > 1 ? "Mean scores over the splits" : "Scores on the test rows";
  const text = `${where}; the best of each column is bold. ${lower.length ? `For ${listed(lower, 9)} lower is better, for the others higher.` : "Higher is better."}`;
  return sub("All metrics", text,
    h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Methods by all metrics" }, table));
}
