// Theoretical properties of each method.

const QUALITIES = [
  ["readable", "Interpretable"],
  ["score_or_interval", "Score or interval"],
  ["consistent", "Consistent"],
  ["minimax", "Minimax"],
  ["non_asymptotic", "Non-asymptotic"],
  ["parameter_free", "Parameter-free"],
  ["online", "Online"],
];
const GLYPHS = { yes: "●", partly: "◐", no: "○" };

const qualityOf = (method, key) => {
  const [grade, reason] = method.card?.[key] || ["", ""];
  return { grade: String(grade || "").toLowerCase(), reason: reason || "" };
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
    h("caption", { class: "hidden" }, "Properties of each method"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Method"),
      QUALITIES.map(([, title]) => h("th", { scope: "col" }, title)),
      h("th", { scope: "col", title: "Time of tuning and fitting, and prediction time per row" }, "Measured time"))),
    h("tbody", {}, methods.map((method) => {
      const button = h("button", { type: "button", class: "expand", "aria-expanded": "false", title: method.title,
        on: { click: () => toggle(method) } },
        h("span", { class: "name" }, shortened(method.title, 32)));
      const row = h("tr", {}, h("th", { scope: "row" }, button), QUALITIES.map(([key]) => qualityCell(method, key)),
        h("td", {}, h("small", {},
          method.status === "done"
          ? `${duration(method.fit_seconds)}, ${microseconds(method.predict_microseconds)} per row` : NOTHING)));
      rows.set(method, row);
      return row;
    })));
  toggle(methods.find((method) => method === CHOSEN_METHOD) || methods[0]);
  return section("qualities", "Properties", "Theoretical properties of the methods",
    "They hold for any data: ● yes, ◐ partly, ○ no. Select a method to see the reasons.",
    h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Properties of each method" }, table));
}

function qualityCell(method, key) {
  const { grade, reason } = qualityOf(method, key);
  const glyph = GLYPHS[grade];
  return h("td", { title: [grade, reason].filter(Boolean).join(": ") },
    h("span", { class: `glyph ${glyph ? grade : ""}`, "aria-hidden": "true" }, glyph || NOTHING),
    h("span", { class: "hidden" }, grade || "not known"));
}

function qualityCard(method) {
  const item = (title, text) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
  const time = method.status === "done"
    ? `${duration(method.fit_seconds)} for tuning and fitting on ${counted(method.rows_used, "row")}; ${microseconds(method.predict_microseconds)} per predicted row` : "not measured";
  return h("div", { class: "card" },
    h("dl", {}, QUALITIES.map(([key, title]) => {
      const { grade, reason } = qualityOf(method, key);
      return item(title, `${grade || "not known"}${reason ? `: ${reason}` : ""}`);
    }), item("Measured time", time)));
}
