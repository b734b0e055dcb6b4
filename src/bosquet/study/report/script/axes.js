// Scales from values to places, and the ticks that make them readable.

function roundStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 2.5, 5, 10].find((f) => f * power >= wanted * 0.999);
  return factor * power;
}

// Round values between low and high, three at least: one alone tells no scale.
function linearTicks(low, high, about) {
  const [step, first, last] = [about, about + 1, about + 2, about + 3].map((wanted) => {
    const each = roundStep((high - low) / Math.max(wanted, 1));
    return [each, Math.ceil(low / each - 1e-9), Math.floor(high / each + 1e-9)];
  }).find(([, from, to], i) => to - from >= 2 || i === 3);
  const places = [0, 1, 2, 3, 4, 5, 6, 7, 8].find((p) => Math.abs(step * 10 ** p - Math.round(step * 10 ** p)) < 1e-6);
  const ticks = [];
  for (let i = first; i <= last; i++) {
    const value = i * step;
    ticks.push([value, known(places) ? tickWords(value, places) : num(value, 2)]);
  }
  return ticks;
}

// Round numbers in the millions and beyond are said in units, so that labels stay narrow.
function tickWords(value, places) {
  const size = Math.abs(value);
  if (places === 0 && size >= 1e9) return `${num(value / 1e9)} bn`;
  if (places === 0 && size >= 1e6) return `${num(value / 1e6)} m`;
  // Of four digits many are years, and all are read without a mark.
  return size < 1e4 ? decimal(value, places).replace(",", "") : decimal(value, places);
}

// A date as the tables have it, in years: "2023", or "2023-07" inside a year.
function yearWords(value) {
  const months = Math.round(value * 12);
  const [year, month] = [Math.floor(months / 12), ((months % 12) + 12) % 12];
  return month ? `${year}-${String(month + 1).padStart(2, "0")}` : String(year);
}

const yearTicks = (low, high, about) => linearTicks(low, high, about).map(([value]) => [value, yearWords(value)]);

function logTicks(low, high, about) {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const inside = (value) => value >= low * 0.999 && value <= high * 1.001;
  let ticks = [];
  for (let power = from; power <= to; power++) if (inside(10 ** power)) ticks.push(10 ** power);
  if (ticks.length > about + 1) {
    const every = Math.ceil(ticks.length / (about + 1));
    ticks = ticks.filter((_, i) => i % every === 0);
  } else if (ticks.length < 3) {
    for (const factors of [[1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]]) {
      ticks = [];
      for (let power = from; power <= to; power++) for (const factor of factors) ticks.push(factor * 10 ** power);
      if (ticks.filter(inside).length >= 3) break;
    }
  }
  return ticks.filter(inside).map((value) => [value, num(value, 2)]);
}

// From nothing to all.
const SHARE_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => [share, String(share)]);

// A scale: `scale(value)` is a place. Options: domain, log, pad (share of the domain on both sides), nice, ticks.
function scaleOver(options, from, to, about) {
  let [low, high] = options.domain;
  const log = Boolean(options.log) && low > 0;
  const into = log ? Math.log : (value) => value;
  const back = log ? Math.exp : (value) => value;
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2,
    high + (Math.abs(high) || 1) / 2];
  const room = (into(high) - into(low)) * (options.pad || 0);
  [low, high] = [back(into(low) - room), back(into(high) + room)];
  if (options.nice && !log) {
    const step = roundStep((high - low) / about);
    [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  }
  const scale = (value) => from + ((into(value) - into(low)) / (into(high) - into(low))) * (to - from);
  scale.domain = [low, high];
  scale.ticks = options.ticks || (log ? logTicks(low, high, about) : linearTicks(low, high, about));
  return scale;
}

// Width of words at the size of the axes, near enough to lay them out.
const CONTEXT = document.createElement("canvas").getContext("2d");
const WIDTHS = new Map();
function wordsWidth(words, font = "12px") {
  const key = `${font}|${words}`;
  if (!WIDTHS.has(key)) {
    CONTEXT.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
    WIDTHS.set(key, CONTEXT.measureText(words).width);
  }
  return WIDTHS.get(key);
}

// The longest beginning of `words` that fits, with dots where it was cut.
function fitted(words, width, font) {
  if (wordsWidth(words, font) <= width) return words;
  let end = Math.max(Math.floor((words.length * width) / wordsWidth(words, font)), 1);
  while (end > 1 && wordsWidth(`${words.slice(0, end)}…`, font) > width) end--;
  return `${words.slice(0, end).trimEnd()}…`;
}
