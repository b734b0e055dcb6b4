// Layout of a tree: a parent is midway between its children, and subtrees are as close as possible.

const NODE = { width: 178, height: 54, across: 18, down: 46 };

// A rule with thresholds rounded to four digits.
const shortRule = (rule) => rule.replace(/<=/g, "≤").replace(/>=/g, "≥")
  .replace(/-?\d+\.\d{3,}(e[-+]?\d+)?/g, (digits) => num(Number(digits), 4));

// Set the width of nodes to that of the longest rule, within bounds.
function setNodeWidth(root) {
  let widest = 0;
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    widest = Math.max(widest, textWidth(shortRule(node.rule), "600 12px"));
    stack.push(...node.children);
  }
  NODE.width = Math.min(Math.max(widest + 26, 150), 230);
}

/* A list of placed nodes {node, x, y, parent, side}: x of the middle, y of the top. Each subtree is laid out
   separately; the right one is then moved next to the left one, level by level (Reingold and Tilford). */
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

const pathTo = (entry) => (entry ? [...pathTo(entry.parent), entry] : []);

// The rules on the path to a node; a rule is negated if the path goes to the right.
function rulesTo(entry) {
  const path = pathTo(entry);
  return path.slice(1).map((step,
    i) => (step.side === 0 ? shortRule(path[i].node.rule) : `not (${shortRule(path[i].node.rule)})`));
}

// The prediction of a node: its mean, or its most frequent class with the share of this class.
function nodePrediction(node) {
  const { value } = node;
  if (RECORD.task === "regression" || !value.length) return { text: num(value[0]), share: null };
  if (value.length === 1 && RECORD.classes.length === 2) return { text: RECORD.positive, share: value[0] };
  const most = value.reduce((best, share, i) => (share > value[best] ? i : best), 0);
  return { text: RECORD.classes[most] ?? String(most), share: value[most] };
}
