// The record of the study, and values derived from it that all sections use.

const RECORD = JSON.parse(document.getElementById("record").textContent);
const METRIC = RECORD.metric;
const CHOSEN = RECORD.chosen;
const DONE = RECORD.methods.filter((method) => method.status === "done" && isNumber(method.mean));
const methodOf = (name) => DONE.find((method) => method.name === name);
const CHOSEN_METHOD = (CHOSEN && methodOf(CHOSEN.name)) || DONE[0];
const BETTER = METRIC.higher_is_better ? "higher is better" : "lower is better";

const WEIGHTED = Object.keys(RECORD.design?.columns || {}).includes("weight");
// Added to texts about test rows if the study has weights.
const BY_WEIGHT = WEIGHTED ? " Rows are counted by their weights, which are 1 on average over the table." : "";

// Each class has the same colour everywhere; of two classes the positive one is orange.
const HUES = ["blue", "orange", "green", "red", "violet", "grey"];
function hueOf(name) {
  if (RECORD.task === "binary" && RECORD.positive !== null) return name === RECORD.positive ? "orange" : "blue";
  const place = RECORD.classes.indexOf(name);
  return place < 0 || RECORD.classes.length > HUES.length ? "blue" : HUES[Math.min(place, HUES.length - 1)];
}

const NAMES = ["Bayes", "Brier", "Gaussian", "Laplacian", "Matthews", "Poisson"];

function inSentence(title) {
  const first = title.split(" ")[0];
  const text = /^.[a-zà-ÿ]*$/.test(first) && !NAMES.includes(first) ? title[0].toLowerCase() + title.slice(1) : title;
  // In a list, "SVM, linear" would look like two methods.
  return text.replace(/^([^,]+), (.+)$/, "$1 ($2)");
}

/* A section of the page: `nav` is its name in the navigation bar, `lead` the text under its title. */
function section(id, nav, title, lead, ...children) {
  const element = h("section", { id, class: "block" }, h("h2", {}, title), lead && h("p", { class: "lead" }, lead),
    children);
  return { id, nav, element };
}

function sub(title, text, ...children) {
  return h("div", { class: "sub" }, h("h3", {}, title), text && h("p", {}, text), children);
}

// A legend of colours: entries are [hue, text].
const keys = (entries) => h("div", { class: "keys" }, entries.map(([hue, text]) =>
  h("span", {}, h("span", { class: `swatch b-${hue}` }), text)));

// Any value of a hyper-parameter or of a detail as short text.
function formatValue(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number") return Number.isInteger(value) ? whole(value) : num(value, 4);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const text = value.slice(0, 6).map(formatValue).join(", ");
    return value.length > 6 ? `${text}, … (${whole(value.length)} in total)` : text;
  }
  const pairs = Object.entries(value);
  const text = pairs.slice(0, 8).map(([key, item]) => `${formatKey(key)} ${formatValue(item)}`).join(", ");
  return pairs.length > 8 ? `${text}, … (${whole(pairs.length)} in total)` : text;
}

const formatKey = (key) => key.replace(/_/g, " ");

const pairsList = (object) => h("dl", {}, Object.entries(object).map(([key, value]) =>
  h("div", {}, h("dt", {}, formatKey(key)), h("dd", {}, shortened(formatValue(value), 220)))));
