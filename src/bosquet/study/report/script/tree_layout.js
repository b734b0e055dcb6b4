// Where the nodes of a tree stand: a parent midway between its children, subtrees as close as they go.

const NODE = { width: 178, height: 54, across: 18, down: 46 };

// A rule with as many digits as a reader needs.
const shortRule = (rule) => rule.replace(/<=/g, "≤").replace(/>=/g, "≥")
  .replace(/-?\d+\.\d{3,}(e[-+]?\d+)?/g, (digits) => num(Number(digits), 4));

// Nodes as wide as the longest rule needs, within bounds.
function suitWidth(root) {
  let widest = 0;
  const waiting = [root];
  while (waiting.length) {
    const node = waiting.pop();
    widest = Math.max(widest, wordsWidth(shortRule(node.rule), "600 12px"));
    waiting.push(...node.children);
  }
  NODE.width = Math.min(Math.max(widest + 26, 150), 230);
}

/* A list of placed nodes {node, x, y, parent, side}: x of the middle, y of the top. Each subtree is laid out on its
   own and the right one moved next to the left, level by level (Reingold and Tilford's rule). */
function placedNodes(root) {
  const step = NODE.width + NODE.across;
  function layOut(node, depth) {
    const place = { node, depth, x: 0, children: [] };
    if (!node.children.length) return { place, left: [0], right: [0] };
    const parts = node.children.map((child) => layOut(child, depth + 1));
    let { left, right } = { left: [...parts[0].left], right: [...parts[0].right] };
    parts[0].shift = 0;
    for (const part of parts.slice(1)) {
      let shift = 0;
      for (let i = 0; i < Math.min(right.length, part.left.length); i++) shift = Math.max(shift,
        right[i] - part.left[i] + step);
      part.shift = shift;
      part.left.forEach((edge, i) => { if (i >= left.length) left[i] = edge + shift; });
      part.right.forEach((edge, i) => { right[i] = edge + shift; });
    }
    const middle = (parts[0].shift + parts[parts.length - 1].shift) / 2;
    place.children = parts.map((part) => ({ ...part.place, x: part.shift - middle }));
    return { place, left: [0, ...left.map((edge) => edge - middle)],
      right: [0, ...right.map((edge) => edge - middle)] };
  }
  const placed = [];
  function collect(place, x, parent, side) {
    const entry = { node: place.node, x, y: place.depth * (NODE.height + NODE.down), parent, side };
    placed.push(entry);
    place.children.forEach((child, i) => collect(child, x + child.x, entry, i));
  }
  collect(layOut(root, 0).place, 0, null, 0);
  return placed;
}

const wayTo = (entry) => (entry ? [...wayTo(entry.parent), entry] : []);

// The rules that lead to a node, each with its answer.
function rulesTo(entry) {
  const way = wayTo(entry);
  return way.slice(1).map((step,
    i) => (step.side === 0 ? shortRule(way[i].node.rule) : `not (${shortRule(way[i].node.rule)})`));
}

function treeAnswer(node) {
  const { value } = node;
  if (RECORD.task === "regression" || !value.length) return { words: num(value[0]), share: null };
  if (value.length === 1 && RECORD.classes.length === 2) return { words: RECORD.positive, share: value[0] };
  const most = value.reduce((best, share, i) => (share > value[best] ? i : best), 0);
  return { words: RECORD.classes[most] ?? String(most), share: value[most] };
}
