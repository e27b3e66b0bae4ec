// The HLO text of a module: computations fold, operands, users and called computations are links. Only the lines in
// sight are elements.
//
//   const view = kashi.showText(box, model, {select(i)});
//   view.select(i);  view.draw();
"use strict";
// The parts of a line, as elements.
kashi.textLine = (model, i, link) => {
  const {data, text} = model, {make} = kashi, parts = [];
  const word = (className, content) => parts.push(make("span", className, content));
  word("keyword", model.isRoot(i) ? "ROOT " : "");
  word("name", model.name(i));
  word("", " = ");
  word("shape", model.shape(i));
  word("", " ");
  word(`opcode kind-${model.kind(i)}`, model.opcode(i));
  const rest = text(data.rests[i]), operands = model.operandsOf(i);
  if (operands.length > 0 && !rest.startsWith("(")) {
    word("", "(");
    operands.slice(0, 200).forEach((operand, k) => {
      if (k > 0) word("", ", ");
      parts.push(link(operand, model.name(operand)));
    });
    word("", operands.length > 200 ? `, … ${kashi.thousands(operands.length - 200)} more)` : ")");
  }
  // The names of called computations in the attributes.
  const called = new Map(model.callsOf(i).map((c) => [model.computationName(c), c]));
  if (called.size === 0) word("rest", rest);
  else rest.split(/([\w.\-]+)/).forEach((part, k, all) => {
    const isKey = k + 1 < all.length && all[k + 1].startsWith("=");
    if (called.has(part) && !isKey) parts.push(link(data.roots[called.get(part)], part, called.get(part)));
    else word("rest", part);
  });
  const config = data.configs[i], op = text(data.op_names[i]), source = text(data.sources[i]);
  const colon = source.lastIndexOf(":"), metadata = [op === "" ? "" : `op_name="${op}"`,
    source === "" ? "" : `source_file="${source.slice(0, colon)}" source_line=${source.slice(colon + 1)}`];
  if (op !== "" || source !== "") word("metadata", `, metadata={${metadata.filter((each) => each !== "").join(" ")}}`);
  if (config !== undefined) word("metadata", `, backend_config=${text(config)}`);
  return parts;
};

// A list of which only the lines in sight are elements. line(k) makes line k of `count`.
kashi.longList = (box, lineHeight, line) => {
  const {make} = kashi, inner = make("div", "long"), view = make("div", "window");
  // Browsers have a greatest height; beyond it, scrolling moves by more than it shows.
  const MOST = 15_000_000;
  let count = 0, first = 0, last = -1;
  inner.append(view);
  box.replaceChildren(inner);
  const ratio = () => Math.max(count * lineHeight / MOST, 1);
  function draw(isForced = true) {
    const height = box.clientHeight, top = Math.floor(box.scrollTop * ratio() / lineHeight);
    const from = Math.max(top - 20, 0), to = Math.min(top + Math.ceil(height / lineHeight) + 20, count);
    if (!isForced && from >= first && to <= last) return;
    [first, last] = [Math.max(from - 20, 0), Math.min(to + 20, count)];
    const lines = [];
    for (let k = first; k < last; ++k) {
      const made = line(k);
      made.style.height = `${lineHeight}px`;
      lines.push(made);
    }
    view.style.transform = `translateY(${first * lineHeight - box.scrollTop * (ratio() - 1)}px)`;
    view.replaceChildren(...lines);
  }
  box.addEventListener("scroll", () => draw(ratio() > 1));
  new ResizeObserver(() => draw()).observe(box);
  return {
    draw, box,
    setCount(number) {
      count = number;
      inner.style.height = `${Math.min(count * lineHeight, MOST)}px`;
      draw();
    },
    // Scrolls so that the line is in sight; in the middle, if it is not.
    show(k) {
      const top = box.scrollTop * ratio(), at = k * lineHeight;
      if (at < top || at + lineHeight * 2 > top + box.clientHeight) {
        box.scrollTop = Math.max(at - box.clientHeight / 2, 0) / ratio();
      }
      draw();
    },
  };
};

kashi.showText = (box, model, on) => {
  const {make, thousands} = kashi, LINE = 19;
  const isOpen = new Uint8Array(model.computations);
  isOpen[0] = 1;
  const state = {selected: -1};
  // By computation, the number of its first line; a folded one has one line, an open one also its instructions and `}`.
  const tops = new Uint32Array(model.computations + 1);
  function count() {
    for (let c = 0; c < model.computations; ++c) tops[c + 1] = tops[c] + (isOpen[c] ? model.size(c) + 2 : 1);
    list.setCount(tops[model.computations]);
  }
  function computationAt(k) {
    let low = 0, high = model.computations - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tops[middle] <= k) low = middle; else high = middle - 1;
    }
    return low;
  }
  const lineOf = (i) => {
    const c = model.computationOf[i];
    return isOpen[c] ? tops[c] + 1 + i - model.begins[c] : tops[c];
  };
  function link(i, name, c = -1) {
    const made = make("a", "link", name);
    made.href = `#at=${encodeURIComponent(model.name(i))}`;
    made.dataset.instruction = i;
    if (c >= 0) made.dataset.computation = c;
    made.tabIndex = -1;
    return made;
  }
  function headLine(c) {
    const line = make("div", "line fold-line"), button = make("button", "fold", isOpen[c] ? "−" : "+");
    const callers = model.callers[c];
    button.type = "button";
    button.dataset.computation = c;
    button.tabIndex = -1;
    button.setAttribute("aria-expanded", isOpen[c] === 1);
    button.setAttribute("aria-label", `${isOpen[c] ? "Fold" : "Unfold"} ${model.computationName(c)}`);
    line.append(button, make("span", "keyword", c === 0 ? "ENTRY " : ""),
                make("span", "name", model.computationName(c)), make("span", "", isOpen[c] ? " {" : " { … }"),
                make("span", "metadata", `  ${kashi.count(model.size(c), "instruction")}${
                  callers.length > 0 ? ", called by " : c === 0 ? "" : ", called by nothing"}`));
    callers.slice(0, 3).forEach((i) => line.append(link(i, model.name(i)), " "));
    if (callers.length > 3) line.append(make("span", "metadata", `and ${thousands(callers.length - 3)} more`));
    return line;
  }
  const list = kashi.longList(box, LINE, (k) => {
    const c = computationAt(k), at = k - tops[c];
    if (at === 0) return headLine(c);
    if (at > model.size(c)) return make("div", "line", "}");
    const i = model.begins[c] + at - 1, line = make("div", `line${i === state.selected ? " chosen" : ""}`);
    line.dataset.instruction = i;
    const users = model.firsts[i + 1] - model.firsts[i];
    line.append(make("span", "users", users === 0 ? "" : `${thousands(users)}↓`), ...kashi.textLine(model, i, link));
    line.firstChild.title = users === 0 ? "" : kashi.count(users, "user");
    return line;
  });
  function fold(c, open) {
    isOpen[c] = open ? 1 : 0;
    count();
  }
  box.addEventListener("click", (event) => {
    if (!getSelection().isCollapsed) return;  // to mark text is to copy it
    const button = event.target.closest("button.fold"), line = event.target.closest("[data-instruction]");
    if (button !== null) {
      const c = Number(button.dataset.computation);
      fold(c, isOpen[c] === 0);
    } else if (line !== null) {
      event.preventDefault();
      if (line.dataset.computation !== undefined) fold(Number(line.dataset.computation), true);
      on.select(Number(line.dataset.instruction));
    }
  });
  // The instruction `by` lines away.
  const near = (by) => {
    if (state.selected < 0) return model.data.roots[0];
    return Math.min(Math.max(state.selected + by, 0), model.count - 1);
  };
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor(box.clientHeight / LINE) - 2, 1);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page};
    const c = state.selected < 0 ? 0 : model.computationOf[state.selected];
    if (event.key in steps) on.select(near(steps[event.key]));
    else if (event.key === "Home") on.select(model.begins[c]);
    else if (event.key === "End") on.select(model.begins[c + 1] - 1);
    else if (event.key === "ArrowLeft") { fold(c, false); list.show(tops[c]); }
    else if (event.key === "ArrowRight") { fold(c, true); list.show(lineOf(Math.max(state.selected, 0))); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  count();
  return {
    draw: () => list.draw(),
    select(i) {
      state.selected = i;
      if (i < 0) { list.draw(); return; }
      if (isOpen[model.computationOf[i]] === 0) fold(model.computationOf[i], true);
      list.show(lineOf(i));
    },
    foldAll(open) {
      isOpen.fill(open ? 1 : 0);
      count();
      if (state.selected >= 0) list.show(lineOf(state.selected));
    },
  };
};
