// Scales from values to positions, and their ticks.

function roundStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 2.5, 5, 10].find((f) => f * power >= wanted * 0.999);
  return factor * power;
}

// Round values between low and high, at least three if possible, so that the scale can be read.
function linearTicks(low, high, about) {
  const [step, first, last] = [about, about + 1, about + 2, about + 3].map((wanted) => {
    const each = roundStep((high - low) / Math.max(wanted, 1));
    return [each, Math.ceil(low / each - 1e-9), Math.floor(high / each + 1e-9)];
  }).find(([, from, to], i) => to - from >= 2 || i === 3);
  const places = [0, 1, 2, 3, 4, 5, 6, 7, 8].find((p) => Math.abs(step * 10 ** p - Math.round(step * 10 ** p)) < 1e-6);
  const ticks = [];
  for (let i = first; i <= last; i++) {
    const value = i * step;
    ticks.push([value, isNumber(places) ? tickLabel(value, places) : num(value, 2)]);
  }
  return ticks;
}

// Millions and billions are abbreviated, so that labels stay narrow.
function tickLabel(value, places) {
  const size = Math.abs(value);
  if (places === 0 && size >= 1e9) return `${num(value / 1e9)} bn`;
  if (places === 0 && size >= 1e6) return `${num(value / 1e6)} m`;
  // No thousands separator in numbers of four digits, which are often years.
  return size < 1e4 ? decimal(value, places).replace(",", "") : decimal(value, places);
}

// The label of a date in fractional years: "2023", or "2023-07" within a year.
function yearLabel(value) {
  const months = Math.round(value * 12);
  const [year, month] = [Math.floor(months / 12), ((months % 12) + 12) % 12];
  return month ? `${year}-${String(month + 1).padStart(2, "0")}` : String(year);
}

const yearTicks = (low, high, about) => linearTicks(low, high, about).map(([value]) => [value, yearLabel(value)]);

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

// Ticks of an axis from 0 to 1.
const SHARE_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => [share, String(share)]);

/* A scale: `scale(value)` is a position in pixels. Options: domain, log, pad (share of the domain that is added on
   both sides), nice (round the ends), ticks. */
function scaleOver(options, from, to, about) {
  let [low, high] = options.domain;
  const log = Boolean(options.log) && low > 0;
  const into = log ? Math.log : (value) => value;
  const back = log ? Math.exp : (value) => value;
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2,
    high + (Math.abs(high) || 1) / 2];
  const margin = (into(high) - into(low)) * (options.pad || 0);
  [low, high] = [back(into(low) - margin), back(into(high) + margin)];
  if (options.nice && !log) {
    const step = roundStep((high - low) / about);
    [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  }
  const scale = (value) => from + ((into(value) - into(low)) / (into(high) - into(low))) * (to - from);
  scale.domain = [low, high];
  scale.ticks = options.ticks || (log ? logTicks(low, high, about) : linearTicks(low, high, about));
  return scale;
}

// Width of a text in pixels, by default in the font size of the axes.
const CONTEXT = document.createElement("canvas").getContext("2d");
const WIDTHS = new Map();
function textWidth(text, font = "12px") {
  const key = `${font}|${text}`;
  if (!WIDTHS.has(key)) {
    CONTEXT.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
    WIDTHS.set(key, CONTEXT.measureText(text).width);
  }
  return WIDTHS.get(key);
}

// The text, shortened with an ellipsis if it is wider than `width` pixels.
function fitted(text, width, font) {
  if (textWidth(text, font) <= width) return text;
  let end = Math.max(Math.floor((text.length * width) / textWidth(text, font)), 1);
  while (end > 1 && textWidth(`${text.slice(0, end)}…`, font) > width) end--;
  return `${text.slice(0, end).trimEnd()}…`;
}
