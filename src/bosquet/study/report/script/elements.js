// Helpers that create elements. Data becomes a text node or the value of an attribute, never markup, because a
// column may have any name.

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

// A drop-down list with a label. Options are [value, title]; `changed` is called with the chosen value.
function chooser(text, options, value, changed) {
  const select = h(
    "select",
    { on: { change: (event) => changed(event.target.value) } },
    options.map(([key, title]) => h("option", { value: key, selected: key === value }, shortened(title, 48))),
  );
  const label = h("label", {}, text, select);
  label.select = select;
  return label;
}

// A group of buttons, one of which is pressed. Options are [value, title].
function choices(label, options, value, changed) {
  const buttons = options.map(([key, title]) =>
    h("button", { type: "button", "aria-pressed": String(key === value), "data-value": key }, title));
  const group = h("div", { class: "choices", role: "group", "aria-label": label }, buttons);
  group.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
    changed(pressed.dataset.value);
  });
  return group;
}

function searchField(label, typed) {
  const input = h("input", { type: "search", on: { input: (event) => typed(event.target.value) } });
  return h("label", {}, label, input);
}

// A table of text values; the first cell of a row is its header.
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

// A number with its noun: "3 rows", "1 row".
const counted = (number, noun, plural) => `${whole(number)} ${number === 1 ? noun : plural || `${noun}s`}`;

// A list as text: "a, b and c"; names beyond `most` are replaced by their number.
function listed(names, most = 4) {
  const shown = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} others`] : [...names];
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}
