// Theoretical properties of each method.

const PROPERTIES = [
  ["readable", "Interpretable"],
  ["score_or_interval", "Score or interval"],
  ["consistent", "Consistent"],
  ["minimax", "Minimax"],
  ["non_asymptotic", "Non-asymptotic"],
  ["parameter_free", "Parameter-free"],
  ["online", "Online"],
];
const GLYPHS = { yes: "●", partly: "◐", no: "○" };

const propertyOf = (method, key) => {
  const [grade, reason] = method.properties?.[key] || ["", ""];
  return { grade: String(grade || "").toLowerCase(), reason: reason || "" };
};

function propertiesSection() {
  const methods = RECORD.methods.filter((method) => method.properties && Object.keys(method.properties).length);
  if (!methods.length) return null;
  const rows = new Map();
  const toggle = (method) => {
    const row = rows.get(method);
    const button = row.querySelector("button");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) row.nextElementSibling.remove();
    else row.after(h("tr", { class: "more-of" }, h("td", { colspan: row.cells.length }, propertyList(method))));
  };
  const table = h("table", { class: "properties" },
    h("caption", { class: "hidden" }, "Properties of each method"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Method"),
      PROPERTIES.map(([, title]) => h("th", { scope: "col" }, title)),
      h("th", { scope: "col", title: "Time of tuning and fitting, and prediction time per row" }, "Measured time"))),
    h("tbody", {}, methods.map((method) => {
      const button = h("button", { type: "button", class: "expand", "aria-expanded": "false", title: method.title,
        on: { click: () => toggle(method) } },
        h("span", { class: "name" }, shortened(method.title, 32)));
      const row = h("tr", {}, h("th", { scope: "row" }, button), PROPERTIES.map(([key]) => propertyCell(method, key)),
        h("td", {}, h("small", {},
          method.status === "done"
          ? `${duration(method.fit_seconds)}, ${microseconds(method.predict_microseconds)} per row` : NOTHING)));
      rows.set(method, row);
      return row;
    })));
  toggle(methods.find((method) => method === CHOSEN_METHOD) || methods[0]);
  return section("properties", "Properties", "Theoretical properties of the methods",
    "They hold for any data: ● yes, ◐ partly, ○ no. Select a method to see the reasons.",
    h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Properties of each method" }, table));
}

function propertyCell(method, key) {
  const { grade, reason } = propertyOf(method, key);
  const glyph = GLYPHS[grade];
  return h("td", { title: [grade, reason].filter(Boolean).join(": ") },
    h("span", { class: `glyph ${glyph ? grade : ""}`, "aria-hidden": "true" }, glyph || NOTHING),
    h("span", { class: "hidden" }, grade || "not known"));
}

function propertyList(method) {
  const item = (title, text) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
  const time = method.status === "done"
    ? `${duration(method.fit_seconds)} for tuning and fitting on ${counted(method.rows_used, "row")}; ${microseconds(method.predict_microseconds)} per predicted row` : "not measured";
  return h("div", { class: "property-list" },
    h("dl", {}, PROPERTIES.map(([key, title]) => {
      const { grade, reason } = propertyOf(method, key);
      return item(title, `${grade || "not known"}${reason ? `: ${reason}` : ""}`);
    }), item("Measured time", time)));
}
