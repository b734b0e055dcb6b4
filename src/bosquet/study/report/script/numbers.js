// Formatting of numbers: few digits, thousands separators, a true minus sign.

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const NOTHING = "–";

function grouped(digits) {
  const [integer, fraction] = digits.split(".");
  const spaced = integer.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return (fraction === undefined ? spaced : `${spaced}.${fraction}`).replace("-", "−");
}

function decimal(value, places) {
  if (!isNumber(value)) return NOTHING;
  const digits = value.toFixed(places);
  return grouped(Number(digits) === 0 ? digits.replace("-", "") : digits);
}

const whole = (value) => decimal(value, 0);

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const raised = (power) => [...String(power)].map((digit) => SUPERSCRIPTS[digit]).join("");

// A number with the given significant digits; very large and very small numbers as powers of ten.
function num(value, digits = 3) {
  if (!isNumber(value)) return NOTHING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) {
    const [front, power] = value.toExponential(Math.max(digits - 1, 0)).split("e");
    const mantissa = String(Number(front)).replace("-", "−");
    return `${mantissa === "1" ? "" : mantissa === "−1" ? "−" : `${mantissa}·`}10${raised(Number(power))}`;
  }
  const power = Math.floor(Math.log10(size));
  const places = Math.min(Math.max(digits - 1 - power, 0), 8);
  const fixed = value.toFixed(places);
  return grouped(places ? String(Number(fixed)) : fixed);
}

const percent = (share, places = 1) => (isNumber(share) ? `${decimal(100 * share, places)}\u00a0%` : NOTHING);

function duration(seconds) {
  if (!isNumber(seconds)) return NOTHING;
  if (seconds < 0.095) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const total = Math.round(seconds);
  if (total < 3600) return total % 60 ? `${Math.floor(total / 60)} min ${total % 60} s` : `${total / 60} min`;
  return `${Math.floor(total / 3600)} h ${Math.floor((total % 3600) / 60)} min`;
}

function microseconds(value) {
  if (!isNumber(value)) return NOTHING;
  if (value < 9.95) return `${value.toFixed(1)} µs`;
  return value < 999.5 ? `${Math.round(value)} µs` : `${(value / 1000).toFixed(1)} ms`;
}

// The smallest and the largest finite number.
function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!isNumber(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

// The decimals that show three digits of the median and two digits of the range.
function placesFor(values) {
  const [low, high] = extent(values);
  const sizes = values.filter(isNumber).map(Math.abs).sort((a, b) => a - b);
  const middle = sizes[Math.floor((sizes.length - 1) / 2)] || Math.max(Math.abs(low), Math.abs(high)) || 1;
  const spread = high - low || middle;
  return Math.min(Math.max(2 - Math.floor(Math.log10(middle)), 1 - Math.floor(Math.log10(spread)), 0), 5);
}

const sum = (values) => values.reduce((total, value) => total + (isNumber(value) ? value : 0), 0);
