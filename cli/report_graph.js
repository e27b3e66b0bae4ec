// The graph of a module on a canvas: scopes and called computations are boxes that open and close, instructions are
// boxes, operands are lines. Only what is open is laid out (report_layout.js), each box once, in its own coordinates.
//
//   const graph = kashi.showGraph(canvas, model, {select(i), changed()});
//   graph.showModule();  graph.showAround(i, depth);  graph.select(i);  graph.draw();
//
// A box ("node") of the tree:
//   parent, kind         "scope", "call" (an instruction that calls), "instruction", "part" (some of too many boxes)
//   instruction          its number; -1 for a scope or a part
//   first                the least number of an instruction in it: boxes of one parent are ordered by it
//   items                the boxes in it, null until it is opened once; make() makes them
//   isOpen, x, y, w, h   x and y from the corner of its parent
//   layout, lines        of its items
// Lines that cross the border of an open box go from what is seen in it to what is seen outside. Boxes that are too
// small to be read are drawn as if they were closed.
"use strict";
kashi.showGraph = (canvas, model, on) => {
  const {data, text} = model, {human, thousands, shorten} = kashi;
  const HEAD = 22, PADDING = 14, HEIGHT = 36, MOST_ITEMS = 300, FONT = 11;
  const MIN_SCALE = 0.002, MAX_SCALE = 4, READABLE = 0.42;  // below it there are no names
  const MOST_AROUND = 600;  // instructions in a neighbourhood
  // A parameter or constant with more users is a hub: its lines would cover all others. They are drawn when it is
  // chosen.
  const MOST_USERS = 12, MOST_SPOKES = 2000;
  const pen = canvas.getContext("2d");
  const view = {x: 0, y: 0, scale: 1};  // the world point in the upper left corner
  const state = {root: null, selected: -1, hovered: null, around: -1, depth: 2, colors: "kind", path: true, byTime: 0,
                 isFitted: true};  // nobody has moved it since all was made to fit

  // ---- the tree of boxes ------------------------------------------------------------------------------------------

  const total = (list, of) => list.reduce((sum, each) => sum + of(each), 0);
  let numberOfNodes = 0;
  function makeNode(parent, kind, instruction, label) {
    return {parent, kind, instruction, label, id: numberOfNodes++, first: instruction, items: null, isOpen: false, x: 0,
            y: 0, w: 0, h: 0, layout: null, lines: null, instructions: instruction >= 0 ? [instruction] : []};
  }

  const isSource = (i) => model.starts[i] === model.starts[i + 1];
  const isHub = (i) => isSource(i) && model.firsts[i + 1] - model.firsts[i] > MOST_USERS;

  // The scopes of a computation, as a tree of {name, children, own}. A parameter or a constant is in the innermost
  // scope that has all its users.
  function scopeTree(c, instructions) {
    const root = {name: "", children: new Map(), own: [], depth: 0, parent: null}, at = new Map([[0, root]]);
    const nodeOf = (scope) => {
      const missing = [];
      let number = scope;
      while (!at.has(number)) { missing.push(number); number = data.scope_parents[number]; }
      let node = at.get(number);
      for (const each of missing.reverse()) {
        const child = {name: text(data.scope_names[each]), children: new Map(), own: [], depth: node.depth + 1,
                       parent: node};
        node.children.set(each, child);
        at.set(each, child);
        node = child;
      }
      return node;
    };
    const common = (a, b) => {
      let one = a, other = b;
      while (one !== other) if (one.depth >= other.depth) one = one.parent; else other = other.parent;
      return one;
    };
    const begin = model.begins[c], place = new Array(model.size(c)).fill(root);
    for (let k = instructions.length - 1; k >= 0; --k) {  // users first
      const i = instructions[k];
      let node = null;
      if (model.isRoot(i) && model.opcode(i) === "tuple") node = root;  // it gathers results of all scopes
      else if (!isSource(i)) node = nodeOf(data.scopes[i]);
      else for (let at = model.firsts[i]; at < model.firsts[i + 1]; ++at) {
        const its = place[model.users[at] - begin];
        node = node === null ? its : common(node, its);
      }
      place[k] = node || root;
    }
    for (const i of instructions) place[i - begin].own.push(i);
    return root;
  }

  const firstOf = (tree) => {
    let least = tree.own.length > 0 ? tree.own[0] : Infinity;
    for (const child of tree.children.values()) least = Math.min(least, child.first);
    return least;
  };
  // Fills in, children first: first, instructions. A stack instead of recursion: scopes may be deep.
  function finish(tree) {
    const order = [tree];
    for (let k = 0; k < order.length; ++k) for (const child of order[k].children.values()) order.push(child);
    for (const each of order.reverse()) {
      for (const [key, child] of each.children) if (child.all.length === 0) each.children.delete(key);
      each.first = firstOf(each);
      each.all = [...each.own, ...[...each.children.values()].flatMap((child) => child.all)];
    }
    return tree;
  }

  function instructionNode(parent, i) {
    const calls = model.callsOf(i);
    const node = makeNode(parent, calls.length > 0 ? "call" : "instruction", i, model.name(i));
    if (calls.length > 0) node.make = () => callItems(node, calls);
    return node;
  }
  function callItems(node, calls) {
    const distinct = [...new Set(calls)].slice(0, 50);
    if (distinct.length === 1) return computationItems(node, distinct[0]);
    return distinct.map((c) => {
      const part = makeNode(node, "part", -1, model.computationName(c));
      part.first = model.begins[c];
      part.instructions = range(model.begins[c], model.begins[c + 1]);
      part.make = () => computationItems(part, c);
      return part;
    });
  }
  const range = (from, to) => Array.from({length: to - from}, (_, k) => from + k);
  function computationItems(parent, c) {
    let tree = finish(scopeTree(c, range(model.begins[c], model.begins[c + 1])));
    // A scope that has all there is says nothing.
    while (tree.own.length === 0 && tree.children.size === 1) tree = [...tree.children.values()][0];
    return treeItems(parent, tree);
  }
  function treeItems(parent, tree) {
    const items = tree.own.map((i) => instructionNode(parent, i));
    for (const child of tree.children.values()) {
      let inner = child, label = child.name;
      while (inner.own.length === 0 && inner.children.size === 1) {
        inner = [...inner.children.values()][0];
        label += `/${inner.name}`;
      }
      if (inner.all.length === 1) { items.push(instructionNode(parent, inner.all[0])); continue; }
      const node = makeNode(parent, "scope", -1, label);
      node.first = inner.first;
      node.instructions = inner.all;
      node.make = () => treeItems(node, inner);
      items.push(node);
    }
    items.sort((a, b) => a.first - b.first);
    return inParts(parent, items);
  }
  // Too many boxes at once say nothing: some that follow one another become a box.
  function inParts(parent, items) {
    if (items.length <= MOST_ITEMS) return items;
    const size = Math.max(Math.ceil(items.length / MOST_ITEMS), Math.ceil(Math.sqrt(items.length)), 60);
    const parts = [];
    for (let at = 0; at < items.length; at += size) {
      const some = items.slice(at, at + size), part = makeNode(parent, "part", -1, "");
      part.label = `${some[0].label} … ${some[some.length - 1].label}`;
      part.first = some[0].first;
      part.instructions = some.flatMap((each) => each.instructions);
      for (const each of some) each.parent = part;
      const inner = inParts(part, some);
      part.make = () => inner;
      parts.push(part);
    }
    return parts;
  }

  const secondsOf = (node) => {
    if (node.seconds === undefined) node.seconds = total(node.instructions, reachSeconds);
    return node.seconds;
  };
  // With what an instruction calls.
  const reached = new Map();
  function reachSeconds(i) {
    let sum = model.seconds(i);
    for (const c of model.callsOf(i)) sum += callSeconds(c) / Math.max(model.callers[c].length, 1);
    return sum;
  }
  function callSeconds(first) {
    if (reached.has(first)) return reached.get(first);
    const seen = new Set([first]), waiting = [first];
    let sum = 0;
    while (waiting.length > 0) {
      const c = waiting.pop();
      for (let i = model.begins[c]; i < model.begins[c + 1]; ++i) {
        sum += model.seconds(i);
        for (const called of model.callsOf(i)) if (!seen.has(called)) { seen.add(called); waiting.push(called); }
      }
    }
    reached.set(first, sum);
    return sum;
  }
  const isCritical = (node) => {
    if (node.critical === undefined) node.critical = node.instructions.some((i) => model.isCritical[i] === 1);
    return node.critical;
  };

  // ---- layout -----------------------------------------------------------------------------------------------------

  function labelsOf(node) {
    if (node.labels) return node.labels;
    const {instruction: i} = node;
    if (i >= 0) {
      const calls = model.callsOf(i), inside = calls.length > 0 ? total(calls, (c) => model.size(c)) : 0;
      const what = `${model.opcode(i)}${inside > 0 ? ` (${thousands(inside)})` : ""}`;
      const users = isHub(i) ? `, ${kashi.count(model.firsts[i + 1] - model.firsts[i], "user")}` : "";
      node.labels = [shorten(`${node.label}${users}`, 34), shorten(`${what}  ${model.shape(i)}`, 44)];
    } else {
      const count = kashi.count(node.instructions.length, "instruction"), seconds = secondsOf(node);
      node.labels = [shorten(node.label, 44), seconds > 0 ? `${count}, ${kashi.timeText(seconds)}` : count];
    }
    return node.labels;
  }
  function measure(node) {
    const [name, below] = labelsOf(node);
    node.w = Math.min(Math.max(Math.max(name.length * 6.6, below.length * 5.9) + 18, 70), 290);
    node.h = HEIGHT;
  }
  function open(node) {
    if (!node.make) return false;
    if (node.items === null) node.items = node.make();
    node.isOpen = true;
    return true;
  }

  // Of each instruction below `node`, the item of `node` that holds it: an object with get(instruction). Of many
  // instructions an array is much faster than a map.
  const MANY = 4096;
  function holders(node) {
    if (node.holders) return node.holders;
    const many = node.items.reduce((sum, item) => sum + item.instructions.length, 0) > MANY;
    node.holders = many ? arrayOfHolders(node.items) : new Map();
    if (!many) for (const item of node.items) for (const i of item.instructions) node.holders.set(i, item);
    return node.holders;
  }
  function arrayOfHolders(items) {
    let first = Infinity, last = -1;
    for (const item of items) for (const i of item.instructions) { first = Math.min(first, i); last = Math.max(last, i); }
    const at = new Int32Array(last - first + 1).fill(-1);
    items.forEach((item, k) => { for (const i of item.instructions) at[i - first] = k; });
    return {get: (i) => i < first || i > last || at[i - first] < 0 ? undefined : items[at[i - first]]};
  }
  function linesOf(node) {
    const holds = holders(node), found = new Map();
    node.items.forEach((item, k) => { item.place = k; });
    for (const item of node.items) {
      for (const i of item.instructions) {
        for (let k = model.starts[i]; k < model.starts[i + 1]; ++k) {
          const from = holds.get(model.operands[k]);
          if (from === undefined || from === item || isHub(model.operands[k])) continue;
          const key = from.place * node.items.length + item.place;
          let line = found.get(key);
          if (line === undefined) found.set(key, line = {from, to: item, bytes: 0, critical: false, pairs: []});
          line.bytes += data.bytes[model.operands[k]];
          line.pairs.push(model.operands[k], i);
          if (model.critical(model.operands[k], i)) line.critical = true;
        }
        for (const before of data.controls[i] || []) {  // it runs before, but its value is not used
          const from = holds.get(before), key = from === undefined ? -1 : from.place * node.items.length + item.place;
          if (from === undefined || from === item || found.has(key)) continue;
          const critical = model.critical(before, i);
          found.set(key, {from, to: item, bytes: 0, critical, control: true, pairs: [before, i]});
        }
      }
    }
    return [...found.values()];
  }
  // Whether the critical path goes from one instruction to the other.
  model.critical = model.critical || (() => {
    const next = new Map();
    for (let k = 0; k + 1 < data.critical.length; ++k) {
      const [a, b] = [data.critical[k], data.critical[k + 1]];
      if (model.computationOf[a] === model.computationOf[b]) next.set(a, b);
    }
    return (a, b) => next.get(a) === b;
  })();

  let generation = 0;  // of all places
  // Lays out what is open and not laid out yet, inner boxes first.
  function layOut(top) {
    const order = [top];
    ++generation;
    for (let k = 0; k < order.length; ++k) {
      if (order[k].isOpen && order[k].layout === null) order.push(...order[k].items);
      else if (!order[k].isOpen) measure(order[k]);
    }
    for (const node of order.reverse()) {
      if (!node.isOpen || node.layout !== null) continue;
      node.lines = node.lines || linesOf(node);
      const edges = node.lines.map((line) => [line.from.place, line.to.place]);
      const layout = kashi.layoutGraph(node.items, edges);
      node.items.forEach((item, k) => {
        item.x = PADDING + layout.x[k];
        item.y = HEAD + PADDING + layout.y[k];
      });
      node.lines.forEach((line, k) => { line.route = layout.routes[k]; });
      node.layout = layout;
      node.tall = node.items.reduce((most, item) => Math.max(most, item.h), 0);
      const label = Math.min(node.label.length * 6.6 + 40, 400);
      node.w = Math.max(layout.width + 2 * PADDING, label);
      node.h = layout.height + HEAD + 2 * PADDING;
    }
  }
  // After a box was opened or closed: the boxes around it have other sizes.
  function changed(node) {
    for (let each = node; each !== null; each = each.parent) each.layout = null;
    layOut(state.root);
  }
  function setOpen(node, isOpen) {
    if (isOpen ? !open(node) : !node.isOpen || node === state.root) return false;
    if (!isOpen) node.isOpen = false;
    changed(node);
    return true;
  }

  // ---- places -----------------------------------------------------------------------------------------------------

  function corner(node) {
    let x = 0, y = 0;
    for (let each = node; each !== null; each = each.parent) { x += each.x; y += each.y; }
    return {x, y};
  }
  // The innermost box in `from` that is seen and holds the instruction; called computations are not looked into.
  function seen(i, from = state.root) {
    let node = from;
    while (node.isOpen) {
      const next = holders(node).get(i);
      if (next === undefined) return node === from ? null : node;
      node = next;
    }
    return node;
  }
  function boxOf(node) {
    const {x, y} = corner(node);
    return {x, y, w: node.w, h: node.h};
  }
  // The instructions that call one another, from the entry to this one; empty if the entry does not reach it.
  function callChain(i) {
    const chain = [i], passed = new Set();
    for (let c = model.computationOf[i]; c !== 0; c = model.computationOf[chain[0]]) {
      if (passed.has(c) || model.callers[c].length === 0) return [];
      passed.add(c);
      chain.unshift(model.callers[c][0]);
    }
    return chain;
  }
  // The innermost box that is seen and holds the instruction. With `isToOpen` all that holds it is opened. Null if the
  // entry does not reach it.
  function locate(i, isToOpen) {
    let node = state.root, last = null;
    for (const step of callChain(i)) {
      do {
        if (!node.isOpen && !(isToOpen && open(node))) return last;
        node = holders(node).get(step);
        if (node === undefined) return last;
        last = node;
      } while (node.instruction !== step);
    }
    return last;
  }
  function reveal(i) {
    const node = locate(i, true);
    for (let each = node; each !== null; each = each.parent) if (each.isOpen) each.layout = null;
    layOut(state.root);
    return node;
  }

  // ---- drawing ----------------------------------------------------------------------------------------------------

  let colors = {};
  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const names = ["page", "panel", "ink", "muted", "line", "mark", "focus", "node-parameter", "node-constant",
                   "node-call", "node-collective", "node-matrix", "node-move", "node-elementwise", "node-other",
                   "node-scope"];
    colors = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    colors.heat = [0, 1, 2, 3, 4, 5].map((step) => style.getPropertyValue(`--heat-${step}`).trim());
  }
  function fillOf(node) {
    if (state.colors === "time") {
      const share = state.byTime > 0 ? secondsOf(node) / state.byTime : 0;
      return colors.heat[share <= 0 ? 0 : Math.min(Math.max(Math.ceil(Math.log10(share * 1e4) / 4 * 5), 1), 5)];
    }
    return node.instruction < 0 ? colors["node-scope"] : colors[`node-${model.kind(node.instruction)}`];
  }
  const widthOf = (bytes) => Math.min(Math.max(0.8 + Math.log2(Math.max(bytes, 1) / 4096 + 1) * 0.42, 0.8), 9);

  function fineLines(line) {
    if (line.generation === generation) return line.fine;
    const found = new Map(), inner = (top, i) => seen(i, top) || top;
    for (let k = 0; k < line.pairs.length; k += 2) {
      const [a, b] = [line.pairs[k], line.pairs[k + 1]], from = inner(line.from, a), to = inner(line.to, b);
      const key = from.id * 67108864 + to.id;
      let fine = found.get(key);
      if (fine === undefined) found.set(key, fine = {from, to, bytes: 0, critical: false, control: line.control});
      fine.bytes += data.bytes[a];
      if (line.critical && model.critical(a, b)) fine.critical = true;
    }
    for (const fine of found.values()) {
      const from = corner(fine.from), to = corner(fine.to);
      fine.points = [from.x + fine.from.w / 2, from.y + fine.from.h, to.x + fine.to.w / 2, to.y];
    }
    line.fine = [...found.values()];
    line.generation = generation;
    return line.fine;
  }

  // What a frame shows: boxes that are open, lines, boxes that are closed or too small.
  function collect(width, height) {
    const shown = {opened: [], lines: [], closed: []}, {scale} = view;
    const right = view.x + width / scale, bottom = view.y + height / scale;
    const isOut = (x, y, w, h) => x > right || y > bottom || x + w < view.x || y + h < view.y;
    const waiting = [{node: state.root, x: state.root.x, y: state.root.y}];
    const isDescended = (node) => node.isOpen && (node === state.root || node.tall * scale >= 4);
    const opened = new Set();
    while (waiting.length > 0) {
      const {node, x, y} = waiting.pop();
      if (isOut(x, y, node.w, node.h)) continue;
      if (!isDescended(node)) { shown.closed.push({node, x, y}); continue; }
      shown.opened.push({node, x, y});
      opened.add(node);
      for (const item of node.items) waiting.push({node: item, x: x + item.x, y: y + item.y});
    }
    for (const {node, x, y} of shown.opened) {
      for (const line of node.lines) {
        if (line.from.isOpen || line.to.isOpen) {
          if (opened.has(line.from) || opened.has(line.to)) {
            for (const fine of fineLines(line)) {
              const [x0, y0, x1, y1] = fine.points;
              if (isOut(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0))) continue;
              shown.lines.push({line: fine, points: fine.points, x: 0, y: 0});
            }
            continue;
          }
        }
        const left = Math.min(line.from.x, line.to.x), top = Math.min(line.from.y, line.to.y);
        const far = Math.max(line.from.x + line.from.w, line.to.x + line.to.w);
        const low = Math.max(line.from.y + line.from.h, line.to.y + line.to.h);
        if (isOut(x + left, y + top, far - left, low - top)) continue;
        const points = line.route;
        shown.lines.push(points ? {line, points, x: x + PADDING, y: y + HEAD + PADDING} :
          {line, points: [line.from.x + line.from.w, line.from.y + line.from.h / 2, line.to.x + line.to.w,
                          line.to.y + line.to.h / 2], x, y, isBack: true});
      }
    }
    return shown;
  }

  function strokeLine({points, x, y, isBack}) {
    pen.moveTo(points[0] + x, points[1] + y);
    if (isBack) {
      const out = Math.max(points[0], points[2]) + 40 + x;
      pen.bezierCurveTo(out, points[1] + y, out, points[3] + y, points[2] + x, points[3] + y);
      return;
    }
    const isFar = view.scale < 0.12;
    for (let k = 2; k < points.length; k += 2) {
      const [x0, y0, x1, y1] = [points[k - 2] + x, points[k - 1] + y, points[k] + x, points[k + 1] + y];
      const bend = (y1 - y0) / 2;
      if (isFar) pen.lineTo(x1, y1); else pen.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
    }
  }
  // Lines of one width are one path: that is what makes many of them quick.
  function drawLines(lines) {
    const groups = new Map(), thin = 0.7 / view.scale;
    for (const each of lines) {
      const {line} = each, isNear = state.selected >= 0 && touches(line, state.selected);
      const style = isNear ? "focus" : state.path && line.critical ? "mark" : "muted";
      const width = Math.max(widthOf(line.bytes) * (isNear ? 1.3 : 1), isNear || style === "mark" ? 2 * thin : thin);
      const order = style === "muted" ? 0 : style === "mark" ? 1 : 2;
      const key = `${order} ${Math.round(width * 2) / 2} ${line.control ? 1 : 0}`;
      if (!groups.has(key)) groups.set(key, {style, width, isDashed: line.control === true, list: []});
      groups.get(key).list.push(each);
    }
    for (const key of [...groups.keys()].sort()) {
      const {style, width, isDashed, list} = groups.get(key);
      pen.setLineDash(isDashed ? [6, 5] : []);
      pen.strokeStyle = colors[style];
      pen.globalAlpha = style === "muted" ? 0.55 : 0.95;
      pen.lineWidth = width;
      pen.beginPath();
      for (const each of list) strokeLine(each);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }
  // The lines of a hub that is chosen.
  let spokes = {generation: -1, hub: -1, list: []};
  function hubLines() {
    const hub = state.selected;
    if (hub < 0 || !isHub(hub)) return [];
    if (spokes.generation === generation && spokes.hub === hub && spokes.root === state.root) return spokes.list;
    const from = seen(hub), list = [], ends = new Set();
    if (from !== null) for (const user of model.usersOf(hub)) {
      const to = seen(user);
      if (to === null || to === from || ends.has(to)) continue;
      ends.add(to);
      const [a, b] = [corner(from), corner(to)];
      const points = [a.x + from.w / 2, a.y + from.h, b.x + to.w / 2, b.y];
      list.push({line: {from, to, bytes: 0}, points, x: 0, y: 0});
      if (list.length === MOST_SPOKES) break;
    }
    spokes = {generation, hub, root: state.root, list};
    return list;
  }
  const holdsOnly = (node, i) => node.instruction === i;
  const touches = (line, i) => holdsOnly(line.from, i) || holdsOnly(line.to, i);

  function drawClosed({node, x, y}) {
    const {w, h} = node, isSelected = node.instruction >= 0 && node.instruction === state.selected;
    pen.fillStyle = fillOf(node);
    pen.fillRect(x, y, w, h);
    const marked = state.path && isCritical(node);
    if (isSelected || marked || view.scale > 0.15) {
      pen.strokeStyle = isSelected ? colors.focus : marked ? colors.mark : colors.muted;
      pen.lineWidth = isSelected ? Math.max(4, 4 / view.scale) : marked ? Math.max(2.4, 1 / view.scale) : 1;
      pen.strokeRect(x, y, w, h);
      // A box that can be opened has a second lower line.
      if (node.make && view.scale > 0.3) pen.strokeRect(x + 3, y + h, w - 6, 3);
    }
    if (view.scale < READABLE || node.isOpen) return;
    const [name, below] = labelsOf(node);
    pen.fillStyle = colors.ink;
    pen.font = `600 ${FONT}px system-ui, sans-serif`;
    pen.fillText(name, x + 7, y + 14, w - 12);
    pen.font = `${FONT - 1}px system-ui, sans-serif`;
    pen.fillText(below, x + 7, y + 28, w - 12);
  }
  function drawOpened({node, x, y}) {
    pen.fillStyle = node.depthColor;
    pen.fillRect(x, y, node.w, node.h);
    pen.strokeStyle = node.instruction >= 0 && node.instruction === state.selected ? colors.focus : colors.muted;
    pen.lineWidth = node.instruction >= 0 && node.instruction === state.selected ? 4 : 1.2;
    pen.strokeRect(x, y, node.w, node.h);
  }
  // The name of an open box stays in sight as long as some of the box is: below those of the boxes around it.
  function drawHead({node, x, y}) {
    if (node.w * view.scale < 60) return;
    // As long as the names of instructions can be read, it leaves them room.
    const size = view.scale >= READABLE ? Math.min(12 / view.scale, HEAD) : 12 / view.scale;
    let above = 0;
    if (y < view.y) for (let up = node.parent; up !== null; up = up.parent) ++above;
    const left = Math.max(x, view.x), top = Math.max(y, view.y + above * size * 1.6);
    if (top + size * 1.5 > y + node.h) return;
    const label = `− ${labelsOf(node)[0]}`;
    pen.font = `600 ${size}px system-ui, sans-serif`;
    const room = x + node.w - left - size, most = Math.floor(room / (size * 0.58));
    if (most < 4) return;
    pen.fillStyle = node.depthColor;
    pen.fillRect(left, top, Math.min(label.length, most) * size * 0.6 + size, size * 1.55);
    pen.fillStyle = colors.ink;
    pen.fillText(shorten(label, most), left + size * 0.5, top + size * 1.15);
  }

  let frames = 0, lastShown = null;
  function drawNow() {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (width === 0 || height === 0) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const {scale} = view;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = colors.page;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, -view.x * scale * ratio, -view.y * scale * ratio);
    const shown = collect(width, height);
    shown.opened.forEach((each) => {
      let depth = 0;
      for (let up = each.node.parent; up !== null; up = up.parent) ++depth;
      each.node.depthColor = depth % 2 === 0 ? colors.page : colors.panel;
      drawOpened(each);
    });
    drawLines([...shown.lines, ...hubLines()]);
    shown.closed.forEach(drawClosed);
    shown.opened.forEach(drawHead);
    lastShown = shown;
    ++frames;
  }
  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; drawNow(); });
  }

  // ---- moving -----------------------------------------------------------------------------------------------------

  const clampScale = (scale) => Math.min(Math.max(scale, MIN_SCALE), MAX_SCALE);
  function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
    const scale = clampScale(view.scale * factor);
    view.x += px / view.scale - px / scale;
    view.y += py / view.scale - py / scale;
    view.scale = scale;
    state.isFitted = false;
    draw();
  }
  function pan(dx, dy) {
    view.x -= dx / view.scale;
    view.y -= dy / view.scale;
    state.isFitted = false;
    draw();
  }
  // All of it; of a graph that is far taller than wide, or far wider than tall, the beginning.
  function fit() {
    const box = boxOf(state.root), width = canvas.clientWidth || 1, height = canvas.clientHeight || 1;
    const [across, down] = [(width - 24) / box.w, (height - 24) / box.h];
    const scale = clampScale(Math.min(Math.max(Math.min(across, down), Math.min(across, READABLE * 1.5),
                                               Math.min(down, READABLE * 1.5) / 4), 1));
    view.scale = scale;
    view.x = box.x - Math.max((width / scale - box.w) / 2, 12 / scale);
    view.y = box.y - Math.max((height / scale - box.h) / 2, 12 / scale);
    state.isFitted = true;
    draw();
  }
  function center(node) {
    const box = boxOf(node);
    if (view.scale < READABLE) view.scale = 1;
    view.x = box.x + Math.min(box.w, 400) / 2 - canvas.clientWidth / view.scale / 2;
    view.y = box.y + Math.min(box.h, 200) / 2 - canvas.clientHeight / view.scale / 2;
    state.isFitted = false;
    draw();
  }
  // If the box is not in sight.
  function show(node) {
    const box = boxOf(node), right = view.x + canvas.clientWidth / view.scale;
    const bottom = view.y + canvas.clientHeight / view.scale;
    const isIn = box.x >= view.x && box.y >= view.y && box.x + box.w <= right && box.y + box.h <= bottom;
    if (!isIn || view.scale < READABLE) center(node); else draw();
  }

  function hit(px, py) {
    const wx = px / view.scale + view.x, wy = py / view.scale + view.y;
    const has = ({node, x, y}) => wx >= x && wy >= y && wx <= x + node.w && wy <= y + node.h;
    if (lastShown === null) return null;
    const closed = lastShown.closed.find(has);
    if (closed) return closed.node;
    const opened = lastShown.opened.filter(has);
    return opened.length > 0 ? opened[opened.length - 1].node : null;
  }
  function toggle(node) {
    if (node === null || node === state.root) return;
    const before = corner(node);
    if (!setOpen(node, !node.isOpen)) return;
    const after = corner(node);
    view.x += after.x - before.x;  // its corner stays where it is
    view.y += after.y - before.y;
    state.isFitted = false;
    draw();
    on.changed();
  }

  // ---- what is shown ------------------------------------------------------------------------------------------------

  function makeRoot(label, items) {
    const root = makeNode(null, "scope", -1, label);
    root.make = () => items(root);
    root.first = 0;
    return root;
  }
  function begin(root) {
    state.root = root;
    open(root);
    root.instructions = root.items.flatMap((item) => item.instructions);
    state.byTime = total(root.items, secondsOf);
    layOut(root);
  }
  const moduleRoot = makeRoot(model.computationName(0), (root) => computationItems(root, 0));
  function showModule() {
    state.around = -1;
    const wasThere = state.root === moduleRoot;
    if (moduleRoot.items === null) begin(moduleRoot); else state.root = moduleRoot;
    state.byTime = total(moduleRoot.items, secondsOf);
    if (!wasThere) fit();
    on.changed();
  }
  // The instructions within `depth` lines of this one, the nearest first.
  function showAround(i, depth) {
    state.around = i;
    state.depth = depth;
    const found = new Map([[i, 0]]), queue = [i];
    for (let k = 0; k < queue.length && found.size < MOST_AROUND; ++k) {
      const distance = found.get(queue[k]);
      if (distance === depth) break;
      const near = [...model.operandsOf(queue[k]), ...model.usersOf(queue[k]), ...(data.controls[queue[k]] || [])];
      for (const each of near) {
        if (found.has(each) || found.size >= MOST_AROUND) continue;
        found.set(each, distance + 1);
        queue.push(each);
      }
    }
    const order = [...found.keys()].sort((a, b) => a - b);
    const root = makeRoot(`${found.size >= MOST_AROUND ? "the nearest" : "within"} ${kashi.count(depth, "step")} of ${
      model.name(i)}`, (parent) => order.map((each) => instructionNode(parent, each)));
    begin(root);
    fit();
    const node = seen(i);
    if (node !== null) show(node);
    on.changed();
  }
  function select(i, isToShow = true) {
    state.selected = i;
    if (i < 0 || !isToShow) { draw(); return; }
    if (state.around >= 0 && seen(i) === null) showModule();
    const node = state.around >= 0 ? seen(i) : reveal(i);
    if (node !== null) show(node); else draw();
    on.changed();
  }
  // Opens scopes, the outermost first, until so many boxes are seen; if all of them are open already, fusions and calls
  // too. Returns how many boxes that are.
  function openMany(most) {
    const before = state.root.items === null ? 0 : countSeen(), after = openSome(most, false);
    const count = before === after ? openSome(most, true) : after;
    layOut(state.root);
    fit();
    on.changed();
    return count;
  }
  function countSeen() {
    const waiting = [...state.root.items];
    for (let k = 0; k < waiting.length; ++k) if (waiting[k].isOpen) waiting.push(...waiting[k].items);
    return waiting.length;
  }
  function openSome(most, all) {
    let count = 0;
    const waiting = [state.root];
    for (let k = 0; k < waiting.length && count < most; ++k) {
      const node = waiting[k];
      if (!node.isOpen && !(node.make && (all || node.kind !== "call") && open(node))) continue;
      node.layout = null;
      count += node.items.length;
      waiting.push(...node.items);
    }
    return count;
  }
  function closeAll() {
    const waiting = [...state.root.items];
    for (let k = 0; k < waiting.length; ++k) {
      if (!waiting[k].isOpen) continue;
      waiting.push(...waiting[k].items);
      waiting[k].isOpen = false;
    }
    changed(state.root);
    fit();
    on.changed();
  }

  // ---- mouse ------------------------------------------------------------------------------------------------------

  const fingers = new Map();
  let moved = 0;
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = 0;
  };
  canvas.onpointermove = (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) {
      const node = hit(event.offsetX, event.offsetY);
      if (node !== state.hovered) { state.hovered = node; on.hover(node, event, describe); }
      return;
    }
    const [dx, dy] = [event.offsetX - before[0], event.offsetY - before[1]];
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const gap = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]) || 1;
      zoom(gap([event.offsetX, event.offsetY]) / gap(before), other[0], other[1]);
    } else if (moved + Math.abs(dx) + Math.abs(dy) > 3) {
      pan(dx, dy);
    }
    moved += Math.abs(dx) + Math.abs(dy);
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => { fingers.delete(event.pointerId); };
  canvas.onpointerleave = () => { state.hovered = null; on.hover(null); };
  canvas.onclick = (event) => {
    if (moved > 3) return;
    const node = hit(event.offsetX, event.offsetY);
    if (node === null) return;
    if (node.instruction >= 0) on.select(node.instruction);
    // A scope opens at a click, and an open box closes where its name is; an instruction that calls takes two.
    else if (!node.isOpen) toggle(node);
    else if (isHead(node, event)) toggle(node);
  };
  canvas.ondblclick = (event) => {
    const node = hit(event.offsetX, event.offsetY);
    if (node !== null && node.instruction >= 0) toggle(node);
  };
  function isHead(node, event) {
    const {y} = corner(node), wy = event.offsetY / view.scale + view.y;
    return wy < Math.max(y, view.y) + Math.max(HEAD, 20 / view.scale);
  }
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) pan(-event.deltaY * unit, 0);
    else zoom(Math.exp(-event.deltaY * unit * 0.0016), event.offsetX, event.offsetY);
  }, {passive: false});

  function describe(node) {
    if (node.instruction >= 0) {
      const i = node.instruction, seconds = reachSeconds(i), op = text(data.op_names[i]);
      return [`${model.name(i)}: ${model.opcode(i)}`, model.shape(i), human(data.bytes[i]), op,
              seconds > 0 ? kashi.timeText(seconds) : ""].filter((each) => each !== "").join("\n");
    }
    const seconds = secondsOf(node);
    return `${node.label}\n${kashi.count(node.instructions.length, "instruction")}${
      seconds > 0 ? `, ${kashi.timeText(seconds)}` : ""}`;
  }

  readColors();
  return {
    state, view, draw, drawNow, fit, zoom, pan, select, showModule, showAround, toggle, openMany, closeAll,
    selectedNode() {
      if (state.selected < 0) return null;
      return state.around >= 0 ? seen(state.selected) : locate(state.selected, false);
    },
    // The boxes that are seen, for the list beside the picture and for tests: {label, instruction, isOpen, x, y, w, h}
    // on the canvas.
    shown: () => {
      drawNow();
      return [...lastShown.closed, ...lastShown.opened].map(({node, x, y}) => ({
        label: node.label, instruction: node.instruction, isOpen: node.isOpen, x: (x - view.x) * view.scale,
        y: (y - view.y) * view.scale, w: node.w * view.scale, h: node.h * view.scale}));
    },
    resize() { if (state.isFitted) fit(); else draw(); },
    lineCount: () => lastShown.lines.length + hubLines().length,  // of the last frame, for tests
    frames: () => frames, recolor() { readColors(); draw(); },
  };
};
