// Elements of the page. Data only ever becomes a text node or an attribute's value, never markup: a column
// may be called anything.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "vars") {
      for (const [variable, setting] of Object.entries(value)) element.style.setProperty(variable, setting);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function clear(element) {
  element.replaceChildren();
  return element;
}

let lastId = 0;
const freshId = (stem) => `${stem}-${++lastId}`;

const shortened = (name, most) => (name.length <= most ? name : `${name.slice(0, most - 1).trimEnd()}…`);

// A drop-down with a label. Options are [value, words]; `changed` gets the value.
function chooser(words, options, value, changed) {
  const select = h(
    "select",
    { on: { change: (event) => changed(event.target.value) } },
    options.map(([key, title]) => h("option", { value: key, selected: key === value }, shortened(title, 48))),
  );
  const label = h("label", {}, words, select);
  label.select = select;
  return label;
}

// Buttons of which one is pressed. Options are [value, words].
function choices(words, options, value, changed) {
  const buttons = options.map(([key, title]) =>
    h("button", { type: "button", "aria-pressed": String(key === value), "data-value": key }, title));
  const group = h("div", { class: "choices", role: "group", "aria-label": words }, buttons);
  group.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
    changed(pressed.dataset.value);
  });
  return group;
}

function searchField(words, typed) {
  const input = h("input", { type: "search", on: { input: (event) => typed(event.target.value) } });
  return h("label", {}, words, input);
}

// A table of plain values: columns are words, rows arrays; numbers align right.
function plainTable(columns, rows, caption) {
  return h(
    "table",
    {},
    h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, columns.map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map((row) =>
      h("tr", {}, row.map((value, i) =>
        i === 0 ? h("th", { scope: "row" }, value) : h("td", {}, value))))),
  );
}

// Words that name and count: "3 rows", "1 row".
const counted = (number, noun, plural) => `${whole(number)} ${number === 1 ? noun : plural || `${noun}s`}`;

function listed(words, most = 4) {
  const shown = words.length > most ? [...words.slice(0, most - 1), `${words.length - most + 1} others`] : [...words];
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}
