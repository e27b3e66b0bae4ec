// Two modules side by side, as `kashi diff` matches them. Data, from cli/report_compare.cc:
//   counterparts     by instruction of A: that of B, or -1
//   computations     pairs of computations, one after the other; a computation without a partner has -1
//   change_a, change_b, change_what, change_from, change_to, change_follows
//                    instructions that differ; what is a text; follows: another difference explains it
//   renamed          how many only have another name
//   texts
"use strict";
kashi.showComparison = (box, a, b, data) => {
  const {make, thousands} = kashi, LINE = 19;
  const partnerOfB = new Int32Array(b.count).fill(-1);
  data.counterparts.forEach((other, i) => { if (other >= 0) partnerOfB[other] = i; });
  const changeOfA = new Map(), changeOfB = new Map();
  data.change_a.forEach((i, k) => {
    changeOfA.set(i, k);
    changeOfB.set(data.change_b[k], k);
  });
  const marks = {same: " ", changed: "~", follows: "≈", moved: "→", gone: "−", new: "+"};
  const names = {same: "the same", changed: "changed", follows: "changed, as a consequence", moved: "moved",
                 gone: "gone", new: "new"};
  function statusOf(i, isA) {
    if ((isA ? data.counterparts[i] : partnerOfB[i]) < 0) return isA ? "gone" : "new";
    const change = (isA ? changeOfA : changeOfB).get(i);
    if (change === undefined) return "same";
    if (data.texts[data.change_what[change]] === "moved") return "moved";
    return data.change_follows[change] ? "follows" : "changed";
  }

  // Rows of a pair of computations: [instruction of A or -1, of B or -1]. Partners in the same order share a row.
  function rowsOf(ca, cb) {
    const list = (model, c) => c < 0 ? [] : Array.from({length: model.size(c)}, (_, k) => model.begins[c] + k);
    const left = list(a, ca), right = list(b, cb), rows = [];
    const isHere = (j) => j >= 0 && cb >= 0 && b.computationOf[j] === cb;
    const anchors = increasing(left.filter((i) => isHere(data.counterparts[i])).map((i) => [i, data.counterparts[i]]));
    let x = 0, y = 0;
    for (const [i, j] of [...anchors, [Infinity, Infinity]]) {
      while (x < left.length && left[x] < i) rows.push([left[x++], -1]);
      while (y < right.length && right[y] < j) rows.push([-1, right[y++]]);
      if (i < Infinity) { rows.push([i, j]); ++x; ++y; }
    }
    return rows;
  }
  // The longest part of the pairs in which B's numbers increase too.
  function increasing(pairs) {
    const ends = [], before = new Int32Array(pairs.length).fill(-1);
    pairs.forEach(([, j], k) => {
      let low = 0, high = ends.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pairs[ends[middle]][1] < j) low = middle + 1; else high = middle;
      }
      before[k] = low > 0 ? ends[low - 1] : -1;
      ends[low] = k;
    });
    const found = [];
    for (let k = ends.length > 0 ? ends[ends.length - 1] : -1; k >= 0; k = before[k]) found.unshift(pairs[k]);
    return found;
  }

  const blocks = [];
  for (let k = 0; k < data.computations.length; k += 2) {
    const [ca, cb] = [data.computations[k], data.computations[k + 1]], rows = rowsOf(ca, cb);
    const counts = {};
    for (const [i, j] of rows) {
      for (const status of [i >= 0 ? statusOf(i, true) : "", j >= 0 && i < 0 ? statusOf(j, false) : ""]) {
        if (status !== "") counts[status] = (counts[status] || 0) + 1;
      }
    }
    const differs = Object.keys(counts).some((status) => status !== "same");
    blocks.push({ca, cb, rows, counts, differs, isOpen: k === 0 || differs});
  }
  const totals = {};
  for (const block of blocks) {
    for (const [status, number] of Object.entries(block.counts)) totals[status] = (totals[status] || 0) + number;
  }

  const bar = make("div", "bar"), panel = make("div", "text-box compare"), note = make("p", "note");
  const state = {only: true, lines: [], at: -1};
  const onlyLabel = make("label"), only = make("input");
  only.type = "checkbox";
  only.id = "only-differences";
  only.checked = true;
  only.onchange = () => { state.only = only.checked; arrange(); };
  onlyLabel.append(only, " only differences and what is around them");
  const button = (name, title, action) => {
    const made = make("button", "", name);
    made.type = "button";
    made.title = title;
    made.onclick = action;
    return made;
  };
  bar.append(onlyLabel, button("Next difference", "Key: n", () => jump(1)),
             button("Previous", "Key: p", () => jump(-1)));
  note.id = "differences";
  const parts = ["changed", "follows", "moved", "gone", "new"].filter((status) => totals[status] > 0)
    .map((status) => `${thousands(totals[status])} ${names[status]} (${marks[status]})`);
  const what = parts.length > 0 ? parts.join(", ") : "No differences";
  note.textContent = `${what}; ${thousands(totals.same || 0)} the same` +
    `${data.renamed > 0 ? `, ${thousands(data.renamed)} of them renamed` : ""}.`;
  const heads = make("div", "compare-line compare-heads");
  heads.append(make("span", "", "A"), make("bdi", "", a.title), make("span", "", "B"), make("bdi", "", b.title));
  panel.tabIndex = 0;
  panel.setAttribute("role", "region");
  panel.setAttribute("aria-label", "Two modules side by side");
  box.replaceChildren(bar, note, heads, panel);

  const link = (model) => (i, name) => make("span", "operand", name);
  function side(model, i, isA) {
    const status = i < 0 ? "none" : statusOf(i, isA), mark = make("span", "mark", i < 0 ? "" : marks[status]);
    const line = make("span", `side ${status}`);
    mark.title = names[status] || "";
    if (i >= 0) line.append(...kashi.textLine(model, i, link(model)));
    return [mark, line];
  }
  function headOf(block) {
    const line = make("div", "compare-line fold-line"), fold = make("button", "fold", block.isOpen ? "−" : "+");
    const name = (model, c) => c < 0 ? "(nothing)" : model.computationName(c);
    fold.type = "button";
    fold.setAttribute("aria-expanded", block.isOpen);
    fold.setAttribute("aria-label", `${block.isOpen ? "Fold" : "Unfold"} ${name(a, block.ca)}`);
    fold.onclick = () => { block.isOpen = !block.isOpen; arrange(); };
    const counts = Object.entries(block.counts).filter(([status]) => status !== "same")
      .map(([status, number]) => `${thousands(number)} ${names[status]}`);
    line.append(fold, make("bdi", "", name(a, block.ca)), make("span"),
                make("bdi", "", `${name(b, block.cb)}${counts.length > 0 ? `: ${counts.join(", ")}` : ": the same"}`));
    return line;
  }
  const list = kashi.longList(panel, LINE, (k) => {
    const row = state.lines[k];
    if (row.skipped) return make("div", "compare-line note", `${kashi.count(row.skipped, "line")} the same`);
    if (row.block) return headOf(row.block);
    const line = make("div", `compare-line${k === state.at ? " chosen" : ""}`);
    line.append(...side(a, row.i, true), ...side(b, row.j, false));
    const change = row.i >= 0 ? changeOfA.get(row.i) : changeOfB.get(row.j);
    if (change !== undefined) {
      line.title = `${data.texts[data.change_what[change]]}: ${data.texts[data.change_from[change]]} → ${
        data.texts[data.change_to[change]]}`;
    }
    return line;
  });
  const differs = (row) => !(row.i >= 0 && row.j >= 0 && statusOf(row.i, true) === "same");
  function arrange() {
    const CONTEXT = 2;
    state.lines = [];
    state.at = -1;
    for (const block of blocks) {
      if (state.only && !block.differs && block.ca !== 0) continue;
      state.lines.push({block});
      if (!block.isOpen) continue;
      const rows = block.rows.map(([i, j]) => ({i, j})), isShown = new Uint8Array(rows.length);
      rows.forEach((row, k) => {
        if (differs(row)) isShown.fill(1, Math.max(k - CONTEXT, 0), Math.min(k + CONTEXT + 1, rows.length));
      });
      let skipped = 0;
      const skip = () => { if (skipped > 0) state.lines.push({skipped}); skipped = 0; };
      rows.forEach((row, k) => {
        if (state.only && !isShown[k]) { ++skipped; return; }
        skip();
        state.lines.push(row);
      });
      skip();
    }
    list.setCount(state.lines.length);
  }
  function jump(by) {
    const {lines} = state;
    for (let k = state.at + by; k >= 0 && k < lines.length; k += by) {
      if (lines[k].block || lines[k].skipped || !differs(lines[k])) continue;
      state.at = k;
      list.show(k);
      return;
    }
  }
  arrange();
  return {jump, draw: () => list.draw(), totals};
};
