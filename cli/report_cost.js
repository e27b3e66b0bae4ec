// The cost of a module as tables: by scope, layer, opcode, source or computation, as a tree; and by instruction.
"use strict";
kashi.showCost = (box, model, on) => {
  const {data, text} = model, {make, thousands, human} = kashi;
  const MOST_ROWS = 60;  // of one parent
  const measures = {
    seconds: {heading: "time", text: kashi.timeText},
    wasted: {heading: "on padding", text: kashi.timeText},
    flops: {heading: "flops", text: kashi.numberText},
    transcendentals: {heading: "transcendentals", text: kashi.numberText},
    traffic: {heading: "bytes", text: (number) => human(Math.round(number))},
  };
  const columns = Object.keys(measures).filter((key) => {
    const sums = data.breakdowns.scope[key];
    return key === "seconds" || key === "flops" || key === "traffic" || sums[0] > 0;
  });
  const state = {by: "scope", sort: "seconds", all: new Set(), zoom: 0};  // zoom: the widest box of the flame graph
  const trees = {};
  function treeOf(by) {
    if (trees[by]) return trees[by];
    const found = data.breakdowns[by], children = found.names.map(() => []);
    found.parents.forEach((parent, node) => { if (parent >= 0) children[parent].push(node); });
    const isOpen = new Uint8Array(found.names.length);
    isOpen[0] = 1;
    return trees[by] = {...found, children, isOpen};
  }
  // At first the dearest scopes are open, as far as some twenty rows show.
  function openFirst(tree) {
    let rows = tree.children[0].length;
    while (rows < 14) {
      const seen = [];
      const visit = [0];
      while (visit.length > 0) {
        const node = visit.pop();
        if (tree.isOpen[node]) for (const child of tree.children[node]) visit.push(child);
        else if (tree.children[node].length > 0 && tree.children[node].length < 12) seen.push(node);
      }
      const next = seen.sort((a, b) => tree.seconds[b] - tree.seconds[a])[0];
      if (next === undefined || tree.seconds[next] < tree.seconds[0] / 20) return;
      tree.isOpen[next] = 1;
      rows += tree.children[next].length;
    }
  }

  const head = make("div", "bar"), chooser = make("select"), label = make("label", "", "By ");
  for (const by of [...Object.keys(data.breakdowns), "instruction"]) chooser.append(new Option(by, by));
  label.append(chooser);
  head.append(label);
  const wide = make("div", "cost-rows"), table = make("table"), caption = make("p", "note"), flame = make("div", "flame");
  table.id = "cost";
  wide.append(flame, table);
  box.replaceChildren(head, caption, wide);
  chooser.id = "cost-by";
  chooser.onchange = () => { state.by = chooser.value; state.zoom = 0; draw(); };

  function headRow() {
    const row = make("tr");
    const cell = (key, name, isNumber) => {
      const made = make("th", isNumber ? "number" : "");
      made.scope = "col";
      if (!isNumber) { made.textContent = name; row.append(made); return; }
      const button = make("button", "", name);
      button.type = "button";
      button.onclick = () => { state.sort = key; draw(); };
      if (state.sort === key) made.setAttribute("aria-sort", "descending");
      made.append(button);
      row.append(made);
    };
    cell("", state.by, false);
    cell("share", "share", false);
    for (const key of columns) cell(key, measures[key].heading, true);
    cell("", state.by === "instruction" ? "bound by" : "instructions", false);
    return row;
  }
  function numbers(row, values, total) {
    const share = make("td", "share-cell"), bar = make("span", "bar-of");
    const part = total > 0 ? values(state.sort) / total : 0;
    bar.style.width = `${(part * 70).toFixed(1)}px`;
    share.append(bar, `${(part * 100).toFixed(1)} %`);
    row.append(share);
    for (const key of columns) {
      const value = values(key);
      row.append(make("td", `number${value === 0 ? " zero" : ""}`, measures[key].text(value)));
    }
  }
  function treeRows(tree) {
    const rows = [], total = tree[state.sort][0];
    const waiting = [{node: 0, depth: 0}];
    while (waiting.length > 0) {
      const {node, depth, more} = waiting.pop(), row = make("tr"), name = make("th", "tree-name");
      name.scope = "row";
      name.style.paddingLeft = `${depth * 16}px`;
      if (more !== undefined) {
        const button = make("button", "", `${thousands(more.length)} more`);
        button.type = "button";
        button.onclick = () => { state.all.add(`${state.by} ${node}`); draw(); };
        name.append(button);
        name.colSpan = columns.length + 3;
        row.append(name);
        rows.push(row);
        continue;
      }
      const children = tree.children[node], title = node === 0 ? "in all" : text(tree.names[node]);
      const toggle = make("button", "toggle", tree.isOpen[node] ? "−" : "+");
      toggle.type = "button";
      toggle.disabled = children.length === 0 || node === 0;
      toggle.setAttribute("aria-expanded", tree.isOpen[node] === 1 && children.length > 0);
      toggle.setAttribute("aria-label", `${tree.isOpen[node] ? "Close" : "Open"} ${title}`);
      toggle.onclick = () => { tree.isOpen[node] ^= 1; draw(); };
      name.append(toggle, make("bdi", "", title));
      row.append(name);
      numbers(row, (key) => tree[key][node], total);
      row.append(make("td", "number", thousands(tree.items[node])));
      rows.push(row);
      if (!tree.isOpen[node]) continue;
      const sorted = children.slice().sort((a, b) => tree[state.sort][b] - tree[state.sort][a] || a - b);
      const shown = state.all.has(`${state.by} ${node}`) ? sorted : sorted.slice(0, MOST_ROWS);
      if (shown.length < sorted.length) waiting.push({node, depth: depth + 1, more: sorted.slice(shown.length)});
      for (const child of shown.slice().reverse()) waiting.push({node: child, depth: depth + 1});
    }
    return rows;
  }
  function instructionRows() {
    const column = data[state.sort], total = data.breakdowns.scope[state.sort][0];
    const order = Uint32Array.from({length: model.count}, (_, i) => i).sort((a, b) => column[b] - column[a] || a - b);
    return Array.from(order.subarray(0, 200)).filter((i) => column[i] > 0).map((i) => {
      const row = make("tr"), name = make("th", "tree-name"), button = make("button", "link", model.name(i));
      name.scope = "row";
      button.type = "button";
      button.onclick = () => on.select(i);
      name.append(button, make("div", "below", kashi.tail(text(data.op_names[i])) || model.opcode(i)));
      row.append(name);
      numbers(row, (key) => data[key][i], total);
      row.append(make("td", "", kashi.BOUNDS[data.bounds[i]]));
      return row;
    });
  }
  // Boxes as wide as their share; below a box its parts. A click makes a box as wide as all.
  function drawFlame(tree) {
    const LEAST = 0.002, ROW = 22, values = tree[state.sort], top = state.zoom < values.length ? state.zoom : 0;
    const boxes = [], above = [];
    for (let node = tree.parents[top]; node >= 0; node = tree.parents[node]) above.unshift(node);
    const add = (node, row, left, width) => {
      const made = make("button", `flame-box flame-${node === 0 ? "all" : hueOf(text(tree.names[node]))}`);
      const share = values[0] > 0 ? values[node] / values[0] * 100 : 0;
      made.type = "button";
      made.textContent = node === 0 ? "in all" : text(tree.names[node]);
      made.title = `${made.textContent}: ${measures[state.sort].text(values[node])}, ${share.toFixed(1)} %`;
      Object.assign(made.style, {left: `${left * 100}%`, width: `${width * 100}%`, top: `${row * ROW}px`});
      made.onclick = () => { state.zoom = node; draw(); };
      boxes.push(made);
    };
    above.forEach((node, row) => add(node, row, 0, 1));
    const waiting = values[top] > 0 ? [{node: top, row: above.length, left: 0, width: 1}] : [];
    let rows = above.length;
    while (waiting.length > 0) {
      const {node, row, left, width} = waiting.pop();
      add(node, row, left, width);
      rows = Math.max(rows, row + 1);
      let from = left;
      const parts = tree.children[node].filter((part) => values[part] / values[top] >= LEAST);
      for (const part of parts.sort((a, b) => values[b] - values[a] || a - b)) {
        const share = values[part] / values[top];
        waiting.push({node: part, row: row + 1, left: from, width: share});
        from += share;
      }
    }
    flame.replaceChildren(...boxes);
    flame.style.height = `${rows * ROW + 8}px`;
  }
  // Names that differ only in a number at the end have one colour.
  function hueOf(name) {
    let hash = 0;
    for (const letter of name.replace(/\d+$/, "")) hash = (hash * 31 + letter.codePointAt(0)) % 9973;
    return hash % 7;
  }
  function draw() {
    const is = data.target_is_guess ? " (a guess; --target sets it)" : "";
    const unknown = kashi.count(data.unknown_loops, "loop");
    caption.textContent = `At least ${kashi.timeText(data.total_seconds)} on ${data.target}${is}, one after the ` +
      `other, by the roofline model; the critical path takes ${kashi.timeText(data.critical_seconds)}.` +
      (data.wasted_seconds > 0 ? ` ${kashi.timeText(data.wasted_seconds)} go to padding.` : "") +
      (data.unknown_loops > 0 ? ` ${unknown} of unknown length: one iteration each.` : "");
    const headPart = make("thead"), body = make("tbody");
    headPart.append(headRow());
    const tree = state.by === "instruction" ? null : treeOf(state.by);
    body.append(...(tree === null ? instructionRows() : treeRows(tree)));
    flame.hidden = tree === null;
    if (tree !== null) drawFlame(tree);
    table.replaceChildren(headPart, body);
  }
  openFirst(treeOf("scope"));
  draw();
  return {draw, choose(by) { chooser.value = state.by = by; draw(); }};
};
