// The page of `kashi memory --html`. Data, from cli/memory_html.cc:
//   texts            each text once; wherever a text is meant below, its number stands
//   spaces           {name, number, peak, temp, peak_step, level_steps, level_bytes, temporaries}; a level lasts up to the next
//   step_names, step_operators                                       by step
//   values, operators, shapes, kinds, op_names, sources              by buffer, texts
//   buffer_spaces, bytes, unpadded, first, lasts (last = first + lasts), lives (0 always, 1 in steps, 2 in a called computation)
//   others           {buffer: texts of the other values in it}
//   figures          {text of a shape: SVG}
// Texts of the module become text nodes, never HTML. A fragment says what to show: #step=12&space=1&search=dot&buffer=dot.3
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const steps = data.step_names.length;
  const buffers = data.values.length;
  if (steps === 0) return;

  const ALWAYS = 0, IN_STEPS = 1;
  const MAX_ROWS = 200;
  const text = (number) => data.texts[number];
  const last = data.first.map((first, i) => first + data.lasts[i]);
  const bySize = Uint32Array.from(data.bytes.keys()).sort((a, b) => data.bytes[b] - data.bytes[a] || a - b);

  // As HumanBytes in kashi/base/text.h: three significant digits.
  function human(bytes) {
    const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if (Math.abs(bytes) < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
    let value = bytes / 1024, unit = 0;
    while (Math.abs(value) >= 999.5 && unit + 1 < units.length) { value /= 1024; ++unit; }
    return `${Number(value.toPrecision(3))} ${units[unit]}`;
  }
  const thousands = (number) => number.toLocaleString("en-US");

  // Sums by step: what is added at one step and taken away at another becomes what is there.
  function accumulate(sums) {
    for (let i = 1; i < sums.length; ++i) sums[i] += sums[i - 1];
    return sums;
  }

  function makeSpace(space) {
    const total = new Float64Array(steps).fill(space.peak - space.temp);
    space.level_steps.forEach((from, i) => {
      const to = i + 1 < space.level_steps.length ? space.level_steps[i + 1] : steps;
      for (let step = from; step < to; ++step) total[step] += space.level_bytes[i];
    });
    const padding = new Float64Array(steps + 1), born = new Float64Array(steps);
    let residentPadding = 0;
    for (let i = 0; i < buffers; ++i) {
      if (data.buffer_spaces[i] !== space.number) continue;
      const extra = data.bytes[i] - data.unpadded[i];
      if (data.lives[i] === ALWAYS) residentPadding += extra;
      if (data.lives[i] !== IN_STEPS) continue;
      padding[data.first[i]] += extra;
      padding[last[i] + 1] -= extra;
      born[data.first[i]] += data.bytes[i];
    }
    return {...space, total, born, padding: accumulate(padding), residentPadding, resident: space.peak - space.temp,
            inCalls: new Set(space.temporaries.filter((i) => data.lives[i] > IN_STEPS))};
  }
  const spaces = data.spaces.map(makeSpace);

  // What is shown. `moment` is a step; while nothing is pinned it follows the pointer.
  const state = {space: 0, moment: spaces[0].peak_step, pinned: false, buffer: -1, from: 0, to: steps, words: ""};

  function isAlive(i, space, step) {
    if (data.buffer_spaces[i] !== space.number) return false;
    if (data.lives[i] === ALWAYS) return true;
    if (data.lives[i] === IN_STEPS) return data.first[i] <= step && step <= last[i];
    return step === space.peak_step && space.inCalls.has(i);
  }

  // ---- charts --------------------------------------------------------------------------------------------------------

  function make(tag, className, content) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  }

  const charts = spaces.map((space, number) => {
    const box = make("div", "chart"), head = make("div", "head"), plot = make("div", "plot");
    const name = make("button", "name", space.name), peak = make("button", "to-peak");
    const step = `${text(data.step_names[space.peak_step])}`;
    peak.textContent = `▲ peak ${human(space.peak)} at step ${thousands(space.peak_step)}, ${step}`;
    if (space.level_steps.length === 0) peak.textContent = `always ${human(space.peak)}`;
    name.type = peak.type = "button";
    const canvas = make("canvas");
    const parts = {box, plot, canvas, name, cursor: make("div", "cursor"), hover: make("div", "hover"), life: make("div", "life")};
    parts.hover.hidden = parts.life.hidden = true;
    plot.tabIndex = 0;
    plot.setAttribute("role", "slider");
    plot.setAttribute("aria-label", `Moment, memory of ${space.name}`);
    plot.setAttribute("aria-valuemin", 0);
    plot.setAttribute("aria-valuemax", steps - 1);
    plot.append(canvas, make("div", "scale", human(space.peak)), parts.hover, parts.cursor, parts.life);
    head.append(name, peak);
    box.append(head, plot);
    element("charts").append(box);
    name.onclick = () => choose({space: number});
    peak.onclick = () => choose({space: number, moment: space.peak_step, pinned: true});
    plot.onpointermove = (event) => point(number, event);
    plot.onpointerleave = () => leave();
    plot.onclick = (event) => choose({space: number, moment: stepAt(number, event), pinned: true});
    return parts;
  });

  // The fullest step of those that share the pointer's pixel: so a peak can be found with the mouse.
  function stepAt(number, event) {
    const box = charts[number].canvas.getBoundingClientRect(), span = state.to - state.from;
    const x = Math.min(Math.max(Math.floor(event.clientX - box.left), 0), box.width - 1);
    const begin = Math.floor(state.from + x * span / box.width), end = Math.floor(state.from + (x + 1) * span / box.width);
    let best = Math.min(begin, steps - 1);
    for (let step = best + 1; step < end; ++step) if (spaces[number].total[step] > spaces[number].total[best]) best = step;
    return best;
  }

  function hatch(context, color) {
    const tile = document.createElement("canvas"), side = 6;
    tile.width = tile.height = side;
    const pen = tile.getContext("2d");
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--hatch");
    pen.fillRect(0, 0, side, side);
    pen.strokeStyle = color;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const shift of [-side, 0, side]) { pen.moveTo(shift, side); pen.lineTo(shift + side, 0); }
    pen.stroke();
    return context.createPattern(tile, "repeat");
  }

  // A column of pixels shows the fullest of its steps, so that no peak is lost.
  function drawChart(number) {
    const space = spaces[number], canvas = charts[number].canvas;
    const ratio = window.devicePixelRatio || 1, width = Math.max(Math.round(canvas.clientWidth * ratio), 1);
    const height = Math.max(Math.round(canvas.clientHeight * ratio), 1), span = state.to - state.from;
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const resident = style.getPropertyValue("--resident"), temporary = style.getPropertyValue("--temporary");
    const fills = [resident, hatch(context, resident), temporary, hatch(context, temporary)];
    const scale = height * 0.94 / Math.max(space.peak, 1);
    const bands = fills.map(() => new Path2D());
    for (let x = 0; x < width; ++x) {
      const begin = Math.floor(state.from + x * span / width), end = Math.floor(state.from + (x + 1) * span / width);
      let best = begin;
      for (let step = begin + 1; step < end; ++step) if (space.total[step] > space.total[best]) best = step;
      const padding = Math.min(space.padding[best], space.total[best] - space.resident);
      const tops = [space.resident - space.residentPadding, space.resident, space.total[best] - padding, space.total[best]];
      let below = 0;
      tops.forEach((top, band) => {
        const y = Math.round(top * scale);
        if (y > below) bands[band].rect(x, height - y, 1, y - below);
        below = Math.max(below, y);
      });
    }
    bands.forEach((band, i) => { context.fillStyle = fills[i]; context.fill(band); });
  }

  function drawCharts() {
    charts.forEach((_, number) => drawChart(number));
    element("axis-first").textContent = `step ${thousands(state.from)}`;
    element("axis-last").textContent = `step ${thousands(state.to - 1)}`;
    showMarks();
  }

  const percent = (step) => (step - state.from) / (state.to - state.from) * 100;

  function showMarks() {
    charts.forEach((chart, number) => {
      chart.box.classList.toggle("chosen", number === state.space);
      chart.name.setAttribute("aria-pressed", number === state.space);
      chart.cursor.style.left = `${percent(state.moment + 0.5)}%`;
      chart.plot.setAttribute("aria-valuenow", state.moment);
      chart.plot.setAttribute("aria-valuetext", describe(number, state.moment));
      const i = state.buffer;
      chart.life.hidden = i < 0 || data.buffer_spaces[i] !== spaces[number].number || data.lives[i] > IN_STEPS;
      if (chart.life.hidden) return;
      const [first, end] = data.lives[i] === ALWAYS ? [0, steps] : [data.first[i], last[i] + 1];
      chart.life.style.left = `${percent(first)}%`;
      chart.life.style.width = `${percent(end) - percent(first)}%`;
    });
  }

  function describe(number, step) {
    const space = spaces[number], born = space.born[step];
    return `step ${thousands(step)}, ${text(data.step_names[step])} (${text(data.step_operators[step])}): ` +
      `${human(space.total[step])} in ${space.name}${born > 0 ? `, ${human(born)} of it new` : ""}`;
  }

  let waiting = 0;
  function point(number, event) {
    const step = stepAt(number, event), tip = element("tip"), chart = charts[number];
    tip.textContent = describe(number, step);
    tip.hidden = chart.hover.hidden = false;
    chart.hover.style.left = `${percent(step + 0.5)}%`;
    tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
    tip.style.top = `${event.clientY + 18}px`;
    if (state.pinned || state.moment === step && state.space === number) return;
    Object.assign(state, {moment: step, space: number});
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; show(); });
  }
  function leave() {
    element("tip").hidden = true;
    charts.forEach((chart) => { chart.hover.hidden = true; });
  }

  function zoom(factor) {
    const span = Math.min(Math.max(Math.round((state.to - state.from) * factor), Math.min(steps, 8)), steps);
    state.from = Math.min(Math.max(Math.round(state.moment - span / 2), 0), steps - span);
    state.to = state.from + span;
    drawCharts();
  }
  function keepInView() {
    const span = state.to - state.from;
    if (state.moment >= state.from && state.moment < state.to) return;
    state.from = Math.min(Math.max(state.moment - (span >> 1), 0), steps - span);
    state.to = state.from + span;
    drawCharts();
  }

  // ---- the list ------------------------------------------------------------------------------------------------------

  // Numbers of the buffers in which some text has the words in it, largest first.
  let lowered = null, found = {words: ""};
  function find(words) {
    if (words === found.words) return found.list;
    lowered = lowered || data.texts.map((each) => each.toLowerCase());
    const wanted = words.toLowerCase(), hits = Uint8Array.from(lowered, (each) => each.includes(wanted) ? 1 : 0);
    const isHit = (i) => hits[data.values[i]] || hits[data.shapes[i]] || hits[data.op_names[i]] || hits[data.sources[i]] ||
      (data.others[i] || []).some((other) => hits[other]);
    found = {words, list: Array.from(bySize.filter(isHit))};
    return found.list;
  }

  function share(i, largest) {
    const box = make("div", "share"), solid = make("span", data.lives[i] === ALWAYS ? "resident" : "temporary");
    const padding = make("span", "padding"), extra = data.bytes[i] - data.unpadded[i];
    const width = largest > 0 ? data.bytes[i] / largest * 100 : 0;
    padding.style.width = `${extra > 0 ? width * extra / data.bytes[i] : 0}%`;
    solid.style.width = `${width * data.unpadded[i] / Math.max(data.bytes[i], 1)}%`;
    box.append(solid);
    if (extra > 0) box.append(padding);
    box.title = extra > 0 ? `${human(extra)} of ${human(data.bytes[i])} is padding` : "no padding";
    return box;
  }
  function expansion(i) {
    if (data.bytes[i] === data.unpadded[i]) return "";
    if (data.unpadded[i] === 0) return "all padding";
    const times = data.bytes[i] / data.unpadded[i];
    return times < 1.05 ? "" : `${times.toFixed(1)}x`;
  }
  function life(i) {
    if (data.lives[i] === ALWAYS) return "all";
    return `${thousands(data.first[i])} to ${thousands(last[i])}${data.lives[i] === IN_STEPS ? "" : " of a called computation"}`;
  }

  function row(i, largest, alive) {
    const made = make("tr", (i === state.buffer ? "chosen" : "") + (alive ? "" : " away"));
    const cell = (content, className) => { const td = make("td", className); td.append(content); made.append(td); return td; };
    const name = make("button", "", text(data.values[i]));
    name.type = "button";
    name.dataset.buffer = i;
    cell(human(data.bytes[i]), "number");
    cell(share(i, largest)).append(expansion(i));
    cell(name);
    cell(text(data.operators[i]));
    cell(make("code", "", text(data.shapes[i])));
    cell(text(data.kinds[i]));
    cell(life(i));
    return made;
  }

  function sumOf(list) { return list.reduce((sum, i) => sum + data.bytes[i], 0); }

  function showList() {
    const space = spaces[state.space], searching = state.words !== "";
    const list = searching ? find(state.words) : Array.from(bySize.filter((i) => isAlive(i, space, state.moment)));
    const shown = list.slice(0, MAX_ROWS), largest = list.length ? data.bytes[list[0]] : 0;
    const rows = shown.map((i) => row(i, largest, !searching || isAlive(i, space, state.moment)));
    const rest = list.slice(MAX_ROWS);
    if (rest.length > 0) rows.push(note(sumOf(rest), `${thousands(rest.length)} smaller ones`));
    const unlisted = searching ? 0 : space.total[state.moment] - sumOf(list);
    if (unlisted > 0) rows.push(note(unlisted, "in called computations and tables of results"));
    element("buffers").tBodies[0].replaceChildren(...rows);
    element("count").textContent = searching
      ? `${thousands(list.length)} of ${thousands(buffers)} buffers, of any space and time; grey: not alive at the moment above`
      : `${list.length === 1 ? "1 buffer is" : `${thousands(list.length)} buffers are`} alive in ${space.name}, the largest first`;
  }
  function note(bytes, content) {
    const made = make("tr"), cell = make("td", "", content);
    cell.colSpan = 6;
    made.append(make("td", "number", human(bytes)), cell);
    return made;
  }

  // ---- the chosen buffer ---------------------------------------------------------------------------------------------

  function showDetails() {
    const box = element("details"), i = state.buffer;
    if (i < 0) return;
    const facts = make("dl"), fact = (key, value) => { if (value) facts.append(make("dt", "", key), make("dd", "", value)); };
    const extra = data.bytes[i] - data.unpadded[i];
    fact("size", `${human(data.bytes[i])} (${thousands(data.bytes[i])} bytes)`);
    fact("padding", extra > 0 ? `${human(extra)} ${expansion(i) && `(${expansion(i)} expansion)`}` : "none");
    fact("kind", `${text(data.kinds[i])}, ${text(data.operators[i])}`);
    fact("space", (spaces.find((space) => space.number === data.buffer_spaces[i]) || {name: ""}).name);
    fact("shape", text(data.shapes[i]));
    fact("steps", life(i));
    if (data.lives[i] === IN_STEPS) fact("last needed by", text(data.step_names[last[i]]));
    fact("op_name", text(data.op_names[i]));
    fact("source", text(data.sources[i]));
    const others = data.others[i] || [];
    if (others.length) fact("in its place", others.slice(0, 50).map(text).join(", ") + (others.length > 50 ? ", …" : ""));
    box.replaceChildren(make("h2", "", text(data.values[i])), facts, figure(data.shapes[i]));
  }
  function figure(shape) {
    const svg = data.figures[shape];
    if (svg === undefined) {
      const made = make("p", "note", "This page has the layouts of the largest shapes only. For this one: ");
      made.append(make("code", "", `kashi draw '${text(shape)}'`));
      return made;
    }
    const image = make("img");
    image.alt = `How ${text(shape)} lies in memory`;
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    return image;
  }

  // ---- what the user does --------------------------------------------------------------------------------------------

  function show() {
    showMarks();
    element("moment").textContent = `${state.pinned ? "Pinned: " : "At "}${describe(state.space, state.moment)}.`;
    Object.assign(document.body.dataset, {step: state.moment, space: spaces[state.space].number, pinned: state.pinned});
    showList();
  }
  function choose(change) {
    Object.assign(state, change);
    state.moment = Math.min(Math.max(state.moment, 0), steps - 1);
    keepInView();
    show();
  }
  function chooseBuffer(i) {
    const space = spaces.findIndex((each) => each.number === data.buffer_spaces[i]);
    const change = {buffer: i};
    if (space >= 0 && !isAlive(i, spaces[state.space], state.moment)) {
      Object.assign(change, {space, pinned: true});
      if (data.lives[i] === IN_STEPS) change.moment = data.first[i];
    }
    const top = document.querySelector(".rows").scrollTop;
    choose(change);
    showDetails();
    document.querySelector(".rows").scrollTop = top;
    const button = document.querySelector(`#buffers button[data-buffer="${i}"]`);
    if (button) button.focus({preventScroll: true});
  }
  const move = (by) => choose({moment: state.moment + by, pinned: true});
  const unpin = () => choose({moment: spaces[state.space].peak_step, pinned: false});
  const many = () => Math.max(Math.round((state.to - state.from) / 20), 1);
  const keys = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    PageUp: () => move(-many()),
    PageDown: () => move(many()),
    Home: () => move(-steps),
    End: () => move(steps),
    Escape: unpin,
    p: () => choose({moment: spaces[state.space].peak_step, pinned: true}),
    s: () => choose({space: (state.space + 1) % spaces.length}),
    "+": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => zoom(steps),
    "/": () => { element("search").focus(); element("search").select(); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.id === "search") {
      if (event.key === "Escape") { search(""); element("search").value = ""; element("search").blur(); }
      return;
    }
    // A list that is focused scrolls.
    if (event.target.className === "rows" && /^(Page|Home|End)/.test(event.key)) return;
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
  function search(words) {
    state.words = words.trim();
    showList();
  }
  element("search").addEventListener("input", (event) => search(event.target.value));
  element("buffers").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) chooseBuffer(Number(button.dataset.buffer));
  });
  element("zoom-in").onclick = () => zoom(0.5);
  element("zoom-out").onclick = () => zoom(2);
  element("zoom-all").onclick = () => zoom(steps);

  function readFragment() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const space = spaces.findIndex((each) => String(each.number) === wanted.get("space"));
    const change = {};
    if (space >= 0) Object.assign(change, {space, moment: spaces[space].peak_step});
    if (/^\d+$/.test(wanted.get("step") || "")) Object.assign(change, {moment: Number(wanted.get("step")), pinned: true});
    element("search").value = wanted.get("search") || "";
    state.words = element("search").value.trim();
    choose(change);
    const buffer = wanted.has("buffer") ? data.values.findIndex((value) => text(value) === wanted.get("buffer")) : -1;
    if (buffer >= 0) chooseBuffer(buffer);
  }
  // At first the largest buffer at the peak.
  function chooseFirst() {
    const first = bySize.find((i) => isAlive(i, spaces[state.space], state.moment));
    if (first === undefined) return;
    state.buffer = first;
    showDetails();
  }

  element("explorer").hidden = false;
  chooseFirst();
  drawCharts();
  readFragment();
  addEventListener("hashchange", readFragment);
  addEventListener("resize", drawCharts);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCharts);
})();
