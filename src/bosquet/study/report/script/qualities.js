// What can be said of each method besides its score.

const QUALITIES = [
  ["readable", "Readable"],
  ["score_or_interval", "Score or interval"],
  ["consistent", "Consistent"],
  ["minimax", "Minimax"],
  ["non_asymptotic", "Non-asymptotic"],
  ["parameter_free", "Parameter-free"],
  ["online", "Online"],
];
const GLYPHS = { yes: "●", partly: "◐", no: "○" };

const qualityOf = (method, key) => {
  const [answer, reason] = method.card?.[key] || ["", ""];
  return { answer: String(answer || "").toLowerCase(), reason: reason || "" };
};

function qualitiesSection() {
  const methods = RECORD.methods.filter((method) => method.card && Object.keys(method.card).length);
  if (!methods.length) return null;
  const rows = new Map();
  const toggle = (method) => {
    const row = rows.get(method);
    const button = row.querySelector("button");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) row.nextElementSibling.remove();
    else row.after(h("tr", { class: "more-of" }, h("td", { colspan: row.cells.length }, qualityCard(method))));
  };
  const table = h("table", { class: "qualities" },
    h("caption", { class: "hidden" }, "Qualities of each method"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Method"),
      QUALITIES.map(([, title]) => h("th", { scope: "col" }, title)),
      h("th", { scope: "col", title: "Time to tune and fit, and to predict a row" }, "Fast, as measured here"))),
    h("tbody", {}, methods.map((method) => {
      const button = h("button", { type: "button", class: "expand", "aria-expanded": "false", title: method.title,
        on: { click: () => toggle(method) } },
        h("span", { class: "name" }, shortened(method.title, 32)));
      const row = h("tr", {}, h("th", { scope: "row" }, button), QUALITIES.map(([key]) => qualityCell(method, key)),
        h("td", {}, h("small", {},
          method.status === "done"
          ? `${duration(method.fit_seconds)}, ${microseconds(method.predict_microseconds)} a row` : NOTHING)));
      rows.set(method, row);
      return row;
    })));
  toggle(methods.find((method) => method === CHOSEN) || methods[0]);
  return section("qualities", "Qualities", "More than a score",
    "What is known of each method whatever the data: ● yes, ◐ partly, ○ no. Choose one for the reasons.",
    h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Qualities of each method" }, table));
}

function qualityCell(method, key) {
  const { answer, reason } = qualityOf(method, key);
  const glyph = GLYPHS[answer];
  return h("td", { title: [answer, reason].filter(Boolean).join(": ") },
    h("span", { class: `glyph ${glyph ? answer : ""}`, "aria-hidden": "true" }, glyph || NOTHING),
    h("span", { class: "hidden" }, answer || "not known"));
}

function qualityCard(method) {
  const item = (title, words) => h("div", {}, h("dt", {}, title), h("dd", {}, words));
  const speed = method.status === "done"
    ? `tuned in ${duration(method.fit_seconds)} on ${counted(method.rows_used, "row")}; ${microseconds(method.predict_microseconds)} a row to predict` : "not measured";
  return h("div", { class: "card" },
    h("dl", {}, QUALITIES.map(([key, title]) => {
      const { answer, reason } = qualityOf(method, key);
      return item(title, `${answer || "not known"}${reason ? `: ${reason}` : ""}`);
    }), item("Fast", speed)));
}
