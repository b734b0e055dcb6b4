// The tree, which can be moved and zoomed; a click on a node shows the rules that lead to it.

function treeSection() {
  const root = CHOSEN?.tree;
  if (!root) return null;
  setNodeWidth(root);
  const placed = placedNodes(root);
  const leaves = placed.filter((entry) => !entry.node.children.length);
  const rulesText = h("p", { class: "tree-rules", "aria-live": "polite" }, "Select a node to see the rules that lead to it.");
  const frame = treeFrame(placed, rulesText);
  return section("tree", "Tree", leaves.length > 1 ? `Decision tree with ${leaves.length} leaves` : "Decision tree",
    `${CHOSEN.tree_title ? `${CHOSEN.tree_title.replace(/[.\s]+$/, "")}. ` : ""}Rows that satisfy the rule of a node go to the left. Thicker lines have more rows.`,
    treeKeys(), frame, rulesText,
    h("p", { class: "note" },
      "Drag to move. To zoom, click the tree and use the mouse wheel, or use the wheel with Ctrl. Keys: arrows move, + and − zoom, 0 shows the whole tree."),
    dataTable({ label: "The tree as rules",
      table: () => ({ columns: ["rules", "rows", "prediction"], rows: leaves.map((entry) => [
      rulesTo(entry).join(" and ") || "all rows", whole(entry.node.n), leafText(entry.node)]) }) }));
}

function treeKeys() {
  if (RECORD.task === "regression" || RECORD.classes.length > HUES.length) return null;
  return keys(RECORD.classes.map((name) => [hueOf(name), shortened(name, 40)]));
}

function leafText(node) {
  const prediction = nodePrediction(node);
  return prediction.share === null ? `mean ${prediction.text}` : `${percent(prediction.share, 0)} “${prediction.text}”`;
}

function treeFrame(placed, rulesText) {
  const stage = s("g", {});
  const svg = s("svg", { tabindex: "0", role: "application",
    "aria-roledescription": "tree that can be moved and zoomed",
    "aria-label": `Decision tree with ${placed.length} nodes. Arrow keys move, plus and minus zoom, zero shows the whole tree; its rules follow as a table.` }, stage);
  const range = extent(placed.map((entry) => entry.node.value[0]));
  const marks = new Map();
  for (const entry of placed) if (entry.parent) marks.set(entry, { link: treeLink(entry, placed[0].node.n) });
  for (const mark of marks.values()) stage.append(mark.link);
  for (const entry of placed) {
    const group = treeNode(entry, range);
    marks.set(entry, { ...marks.get(entry), group });
    stage.append(group);
    group.addEventListener("click", () => choose(entry));
  }
  function choose(entry) {
    const path = new Set(pathTo(entry));
    for (const [other, mark] of marks) {
      mark.group.classList.toggle("on-way", path.has(other));
      mark.link?.classList.toggle("on-way", path.has(other));
    }
    const rules = rulesTo(entry);
    rulesText.textContent = `${rules.length ? `If ${rules.join(" and ")}` : "All rows"}: ${counted(entry.node.n, "row")}, ${leafText(entry.node)}.`;
  }
  const view = movable(svg, stage, placed);
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label,
    on: { click: act } }, text);
  return h("div", { class: "tree-frame" }, svg, h("div", { class: "tree-buttons" },
    button("+", "Zoom in", () => view.zoom(1.3)), button("−", "Zoom out", () => view.zoom(1 / 1.3)),
      button("Fit", "Show the whole tree", () => view.whole())));
}

function treeLink(entry, all) {
  const { x, y, parent } = entry;
  const from = parent.y + NODE.height;
  const middle = (from + y) / 2;
  return s("path", { class: "tree-link", d: `M${parent.x} ${from}C${parent.x} ${middle} ${x} ${middle} ${x} ${y}`,
    "stroke-width": (1 + 13 * Math.sqrt(entry.node.n / (all || 1))).toFixed(1) });
}

function treeNode(entry, range) {
  const { node } = entry;
  const [left, inner] = [entry.x - NODE.width / 2, NODE.width - 20];
  const leaf = !node.children.length;
  const prediction = nodePrediction(node);
  const first = leaf ? prediction.text : shortRule(node.rule);
  const second = prediction.share === null
    ? `${counted(node.n, "row")}${leaf ? "" : `, mean ${prediction.text}`}`
    : `${counted(node.n, "row")}, ${percent(prediction.share, 0)}${leaf ? "" : ` ${prediction.text}`}`;
  const title = `${leaf ? "Leaf" : "Rule"}: ${first}. ${second}.`;
  const group = s("g", { class: "tree-node", "data-node": node.id },
    s("title", {}, node.cut ? `${title} The nodes below are not drawn.` : title),
    s("rect", { class: "box", x: left, y: entry.y, width: NODE.width, height: NODE.height, rx: leaf ? 12 : 3 }),
    s("text", { class: "strong", x: entry.x, y: entry.y + 20, "text-anchor": "middle" },
      fitted(first, inner, "600 12px")),
    s("text", { x: entry.x, y: entry.y + 36, "text-anchor": "middle" }, fitted(second, inner)));
  let at = left + 10;
  for (const [hue, share] of nodeShares(node, range)) {
    group.append(s("rect", { class: hue ? `f-${hue}` : "gridline", x: at, y: entry.y + 43,
      width: Math.max(share * inner, 0), height: 5, fill: hue ? null : "var(--grid)" }));
    at += share * inner;
  }
  return group;
}

// The strip in a node: the share of each class, or the mean on the scale of all nodes.
function nodeShares(node, [low, high]) {
  if (RECORD.task === "regression") {
    const share = high > low ? (node.value[0] - low) / (high - low) : 0.5;
    return [["blue", share], [null, 1 - share]];
  }
  const total = sum(node.value) || 1;
  if (node.value.length === 1) return [["orange", node.value[0]], ["blue", 1 - node.value[0]]];
  if (node.value.length > HUES.length) {
    const share = Math.max(...node.value) / total;
    return [["blue", share], [null, 1 - share]];
  }
  return node.value.map((share, i) => [hueOf(RECORD.classes[i]), share / total]);
}

// Panning and zooming of `stage` inside `svg`.
function movable(svg, stage, placed) {
  const view = { x: 0, y: 0, k: 1 };
  const box = () => [svg.clientWidth || 600, svg.clientHeight || 400];
  const [low, high] = extent(placed.map((entry) => entry.x));
  const bounds = { left: low - NODE.width / 2, right: high + NODE.width / 2,
    bottom: Math.max(...placed.map((entry) => entry.y)) + NODE.height };
  const show = () => {
    stage.setAttribute("transform", `translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.k.toFixed(4)})`);
    svg.dataset.zoom = view.k.toFixed(4);
  };
  // The height of the frame is at most that of the tree at full width.
  const setHeight = () => {
    const k = Math.max(Math.min((svg.clientWidth - 32) / (bounds.right - bounds.left), 1.15), 0.7);
    svg.style.setProperty("--tall", `${Math.round(Math.max(bounds.bottom * k + 90, 220))}px`);
  };
  const wholeScale = () => {
    const [width, height] = box();
    return Math.min((width - 32) / (bounds.right - bounds.left), (height - 72) / bounds.bottom, 1.15);
  };
  const center = (k) => {
    const [width] = box();
    const middle = k > wholeScale() * 1.01 ? placed[0].x : (bounds.left + bounds.right) / 2;
    Object.assign(view, { k, x: width / 2 - middle * k, y: 54 });
    show();
  };
  const zoom = (factor, at) => {
    const [width, height] = box();
    const [cx, cy] = at || [width / 2, height / 2];
    const k = Math.min(Math.max(view.k * factor, Math.min(wholeScale() * 0.7, 0.3)), 4);
    view.x = cx - ((cx - view.x) * k) / view.k;
    view.y = cy - ((cy - view.y) * k) / view.k;
    view.k = k;
    show();
  };
  const move = (dx, dy) => { view.x += dx; view.y += dy; show(); };
  const whole = () => center(wholeScale());
  // At first the whole tree or, if it would be too small to read, its upper part.
  let lastWidth = 0;
  new ResizeObserver(() => {
    if (svg.clientWidth && svg.clientWidth !== lastWidth) {
      lastWidth = svg.clientWidth;
      setHeight();
      center(wholeScale() < 0.55 ? 0.7 : wholeScale());
    }
  }).observe(svg);
  listenToPointers(svg, { zoom, move });
  svg.addEventListener("keydown", (event) => {
    const act = { ArrowLeft: () => move(50, 0), ArrowRight: () => move(-50, 0), ArrowUp: () => move(0, 50),
      ArrowDown: () => move(0, -50),
      "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2), 0: whole }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
  return { zoom, whole };
}

function listenToPointers(svg, { zoom, move }) {
  const pointers = new Map();
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const span = () => {
    const [a, b] = [...pointers.values()];
    return { size: Math.hypot(a[0] - b[0], a[1] - b[1]) || 1, middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  };
  svg.addEventListener("pointerdown",
    (event) => { pointers.set(event.pointerId, place(event)); svg.focus({ preventScroll: true }); });
  svg.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = pointers.size === 2 ? span() : null;
    const [x, y] = pointers.get(event.pointerId);
    const [toX, toY] = place(event);
    // Captured only when the pointer moves, so that a click still reaches a node.
    if (Math.hypot(toX - x, toY - y) > 2) { svg.setPointerCapture(event.pointerId); svg.classList.add("held"); }
    pointers.set(event.pointerId, [toX, toY]);
    if (!before) { move(toX - x, toY - y); return; }
    const after = span();
    zoom(after.size / before.size, after.middle);
    move(after.middle[0] - before.middle[0], after.middle[1] - before.middle[1]);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    svg.addEventListener(end, (event) => { pointers.delete(event.pointerId); svg.classList.remove("held"); });
  }
  svg.addEventListener("wheel", (event) => {
    // Without focus or Ctrl the wheel scrolls the page.
    if (!event.ctrlKey && document.activeElement !== svg) return;
    event.preventDefault();
    zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.004), place(event));
  }, { passive: false });
}
