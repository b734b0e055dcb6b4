// Charts: figures with a title that are redrawn when their width changes. The values of points are shown by pointer
// or arrow keys, and as a table.

const TIP = document.getElementById("tip");

let moveTip = null;  // moves a tooltip that was opened by a key when the page scrolls

function showTip(text, x, y) {
  TIP.textContent = text;
  TIP.hidden = false;
  const box = TIP.getBoundingClientRect();
  const left = Math.min(Math.max(8, x - box.width / 2), document.documentElement.clientWidth - box.width - 8);
  const above = y - box.height - 14;
  TIP.style.transform = `translate(${Math.round(left)}px, ${Math.round(above < 4 ? y + 18 : above)}px)`;
}
function hideTip() {
  moveTip = null;
  TIP.hidden = true;
}
addEventListener("scroll", () => (moveTip ? moveTip() : hideTip()), { passive: true });
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());

const WIDTH_OBSERVER = new ResizeObserver((entries) => {
  for (const entry of entries) entry.target.redraw?.(Math.floor(entry.contentRect.width));
});

/* A figure without axes. spec: title, subtitle, label (text for screen readers), height (number or
   width => number), draw(svg, width, height) => points, table() => {columns, rows}.
   A point is {x, y, words}: its position in the svg and the text of its tooltip. */
function figureOf(spec) {
  const svg = s("svg", { role: "img", "aria-label": spec.label });
  const plot = h("div", { class: "plot" }, svg);
  let points = [];
  let drawn = 0;
  plot.redraw = (width, again) => {
    if (width < 40 || (width === drawn && !again)) return;
    drawn = width;
    const height = typeof spec.height === "function" ? spec.height(width) : spec.height || 230;
    clear(svg);
    fill(svg, { viewBox: `0 0 ${width} ${height}`, height }, []);
    svg.style.height = `${height}px`;
    points = spec.draw(svg, width, height) || [];
    if (points.length) svg.setAttribute("tabindex", "0");
  };
  addTooltips(svg, () => points);
  const head = spec.title || spec.subtitle
    ? h("figcaption", {},
      spec.title && h("h3", { title: spec.title }, spec.title),
      spec.subtitle && h("p", { title: spec.subtitle }, spec.subtitle))
    : null;
  const figure = h("figure", { class: "chart" }, head, plot, spec.table && dataTable(spec));
  figure.redraw = () => plot.redraw(drawn || plot.clientWidth, true);
  figure.svg = svg;
  WIDTH_OBSERVER.observe(plot);
  return figure;
}

function dataTable(spec) {
  const details = h("details", { class: "data" }, h("summary", {}, "Show as table"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const { columns, rows } = spec.table();
    details.append(h("div", { class: "scroller", tabindex: "0", role: "region",
      "aria-label": `${spec.label}, as a table` },
      plainTable(columns, rows, spec.label)));
  });
  return details;
}

// Marks the point nearest to the pointer, or the one selected by arrow keys, and shows its tooltip.
function addTooltips(svg, points) {
  let at = -1;
  const ring = s("circle", { class: "ring", r: 6 });
  const show = (index, byKey) => {
    at = index;
    const point = points()[index];
    if (!point) return;
    ring.setAttribute("cx", point.x);
    ring.setAttribute("cy", point.y);
    svg.append(ring);
    const place = () => {
      const box = svg.getBoundingClientRect();
      showTip(point.words, box.left + point.x, box.top + point.y);
    };
    moveTip = byKey ? place : null;
    place();
  };
  const hide = () => {
    ring.remove();
    hideTip();
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let nearest = -1;
    let least = 70 * 70;
    points().forEach((point, index) => {
      const distance = (point.x - x) ** 2 + ((point.y - y) * 0.5) ** 2;
      if (distance < least) [nearest, least] = [index, distance];
    });
    if (nearest < 0) hide();
    else show(nearest);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const last = points().length - 1;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? last : step && Math.min(Math.max(at + step, 0), last);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    show(to, true);
  });
}

/* A chart with two axes. spec as above with x and y ({domain, log, title, ticks, pad, nice}) in place of draw,
   and marks(frame) => points, where frame has svg, x, y, left, right, top, bottom and add(tag, attributes). */
function chart(spec) {
  return figureOf({ ...spec, draw: (svg, width, height) => {
    const frame = framed(svg, spec, width, height);
    return spec.marks(frame);
  } });
}

function framed(svg, spec, width, height) {
  const top = spec.y.title ? 30 : 10;
  const bottom = height - (spec.x.title ? 42 : 24);
  const y = scaleOver(spec.y, bottom, top, Math.max(2, Math.round((bottom - top) / 48)));
  const yTicks = spec.y.hidden ? [] : y.ticks;
  const left = yTicks.length ? Math.ceil(Math.max(...yTicks.map(([, words]) => textWidth(words)))) + 8 : 2;
  const right = width - (spec.right || 10);
  const x = scaleOver(spec.x, left + 4, right, Math.max(2, Math.round((right - left) / 75)));
  const add = (tag, attributes, ...children) => {
    const element = s(tag, attributes, ...children);
    svg.append(element);
    return element;
  };
  for (const [value, words] of yTicks) {
    add("line", { class: "gridline", x1: left, x2: right, y1: y(value), y2: y(value) });
    add("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, words);
  }
  if (spec.y.title) add("text", { x: 0, y: 12 }, fitted(spec.y.title, width));
  add("line", { class: "baseline", x1: left, x2: right, y1: bottom, y2: bottom });
  xTicks(add, x, left, right, bottom, width);
  if (spec.x.title) add("text", { x: (left + right) / 2, y: bottom + 37, "text-anchor": "middle" },
    fitted(spec.x.title, width));
  return { svg, add, x, y, left, right, top, bottom, width, height };
}

// Labels that would overlap the one before are left out.
function xTicks(add, x, left, right, bottom, width) {
  let free = -Infinity;
  for (const [value, words] of x.ticks) {
    const half = textWidth(words) / 2;
    const place = x(value);
    add("line", { class: "baseline", x1: place, x2: place, y1: bottom, y2: bottom + 4 });
    const middle = Math.min(Math.max(place, half), width - half);
    if (middle - half < free + 8) continue;
    add("text", { x: middle, y: bottom + 18, "text-anchor": "middle" }, words);
    free = middle + half;
  }
}

// An SVG path through [x, y] positions; it is interrupted where a position is not finite.
function pathThrough(positions) {
  let path = "";
  let connected = false;
  for (const [x, y] of positions) {
    if (!isNumber(x) || !isNumber(y)) {
      connected = false;
      continue;
    }
    path += `${connected ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    connected = true;
  }
  return path;
}

// The area between two lines of positions.
const bandBetween = (lower, upper) => `${pathThrough(lower)}${pathThrough([...upper].reverse()).replace("M", "L")}Z`;
