// What the study found, and the few things every part of the page asks of it.

const RECORD = JSON.parse(document.getElementById("record").textContent);
const METRIC = RECORD.metric;
const WINNER = RECORD.winner;
const DONE = RECORD.methods.filter((method) => method.status === "done" && known(method.mean));
const methodOf = (name) => DONE.find((method) => method.name === name);
const CHOSEN = (WINNER && methodOf(WINNER.name)) || DONE[0];
const BETTER = METRIC.higher_is_better ? "higher is better" : "lower is better";

const WEIGHTED = Object.keys(RECORD.design?.columns || {}).includes("weight");
// After a sentence of test rows: how they are counted.
const BY_WEIGHT = WEIGHTED ? " Rows are counted by their weights, which are 1 on average over the table." : "";

// Classes have their colours throughout: of two, the one that is looked for is orange.
const HUES = ["blue", "orange", "green", "red", "violet", "grey"];
function hueOf(name) {
  if (RECORD.task === "binary" && RECORD.positive !== null) return name === RECORD.positive ? "orange" : "blue";
  const place = RECORD.classes.indexOf(name);
  return place < 0 || RECORD.classes.length > HUES.length ? "blue" : HUES[Math.min(place, HUES.length - 1)];
}

const NAMES = ["Bayes", "Brier", "Gaussian", "Laplacian", "Matthews", "Poisson"];

function inSentence(title) {
  const first = title.split(" ")[0];
  const words = /^.[a-zà-ÿ]*$/.test(first) && !NAMES.includes(first) ? title[0].toLowerCase() + title.slice(1) : title;
  // "SVM, linear" would read as two.
  return words.replace(/^([^,]+), (.+)$/, "$1 ($2)");
}

/* A section of the page: `nav` is its name in the bar, `lead` the sentence under its title. */
function section(id, nav, title, lead, ...children) {
  const element = h("section", { id, class: "block" }, h("h2", {}, title), lead && h("p", { class: "lead" }, lead),
    children);
  return { id, nav, element };
}

function sub(title, words, ...children) {
  return h("div", { class: "sub" }, h("h3", {}, title), words && h("p", {}, words), children);
}

const keys = (entries) => h("div", { class: "keys" }, entries.map(([hue, words]) =>
  h("span", {}, h("span", { class: `swatch b-${hue}` }), words)));

// Any value of a setting or a detail in a few words.
function inWords(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number") return Number.isInteger(value) ? whole(value) : num(value, 4);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const words = value.slice(0, 6).map(inWords).join(", ");
    return value.length > 6 ? `${words}, … (${whole(value.length)} in all)` : words;
  }
  const pairs = Object.entries(value);
  const words = pairs.slice(0, 8).map(([key, item]) => `${spoken(key)} ${inWords(item)}`).join(", ");
  return pairs.length > 8 ? `${words}, … (${whole(pairs.length)} in all)` : words;
}

const spoken = (key) => key.replace(/_/g, " ");

const pairsList = (object) => h("dl", {}, Object.entries(object).map(([key, value]) =>
  h("div", {}, h("dt", {}, spoken(key)), h("dd", {}, shortened(inWords(value), 220)))));
