// The memory of a module: the page of `kashi memory --html`, and a part of that of `kashi report`. Data, from
// cli/memory_html.cc:
//   texts            each text once; wherever a text is meant below, its number stands
//   spaces           {name, number, peak, temp, peak_step, level_steps, level_bytes, temporaries, capacity}: a level
//                    lasts up to the next; a capacity of 0 is not known
//   step_names, step_operators, step_op_names                        by step, texts
//   values, operators, shapes, kinds, op_names, sources              by buffer, texts
//   buffer_spaces, bytes, unpadded, first, lasts (last = first + lasts), lives: 0 always, 1 in steps, 2 in a
//                    called computation, 3 in the place of another buffer
//   places           {buffer: the buffer in whose place it lies}
//   others           {buffer: texts of the other values in it}
//   figures          {text of a shape: [SVG for light pages, SVG for dark pages]}
// Texts of the module become text nodes, never HTML. A fragment says what to show:
// #step=12&space=1&search=dot&buffer=dot.3
//
// `page` is what the page around it does: isShown(); fragment(), the parameters in the page's address, and
// setFragment(parameters); finish(details, buffer), to add to the details of a buffer.
"use strict";
kashi.showMemory = (data, page) => {
  const {human, thousands, isolated, make, tail} = kashi;
  const element = (id) => document.getElementById(id);
  const steps = data.step_names.length;
  const buffers = data.values.length;
  if (steps === 0) return null;

  const ALWAYS = 0, IN_STEPS = 1;
  const MAX_ROWS = 200;
  const text = (number) => data.texts[number];
  const last = data.first.map((first, i) => first + data.lasts[i]);
  // Numbers of buffers, those with most of it first.
  const sorted = (much) => Uint32Array.from(data.bytes.keys()).sort((a, b) => much(b) - much(a) || a - b);
  const bySize = sorted((i) => data.bytes[i]);
  let byPadding = null;

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
    const padding = new Float64Array(steps + 1), born = new Float64Array(steps), died = new Float64Array(steps);
    let residentPadding = 0, copies = space.peak - space.temp;
    for (let i = 0; i < buffers; ++i) {
      if (data.buffer_spaces[i] !== space.number) continue;
      const extra = data.bytes[i] - data.unpadded[i];
      if (data.lives[i] === ALWAYS) { residentPadding += extra; copies -= data.bytes[i]; }
      if (data.lives[i] !== IN_STEPS) continue;
      padding[data.first[i]] += extra;
      padding[last[i] + 1] -= extra;
      born[data.first[i]] += data.bytes[i];
      died[last[i]] += data.bytes[i];
    }
    accumulate(padding);
    const inCalls = new Set(space.temporaries.filter((i) => data.lives[i] > IN_STEPS));
    for (const i of inCalls) padding[space.peak_step] += data.bytes[i] - data.unpadded[i];
    return {...space, total, born, died, padding, residentPadding, copies, resident: space.peak - space.temp, inCalls};
  }
  // A space that is empty, or next to nothing beside the others, has no chart; the table has its numbers.
  const most = Math.max(...data.spaces.map((space) => space.peak));
  const hasChart = (space) => space.peak > 0 && space.peak >= Math.min(most / 1000, 64 * 1024);
  const drawn = data.spaces.filter(hasChart);
  const undrawn = data.spaces.filter((space) => space.peak > 0 && !hasChart(space));
  const spaces = (drawn.length > 0 ? drawn : data.spaces.slice(0, 1)).map(makeSpace);

  // What is shown. `moment` is a step; while nothing is pinned it follows the pointer.
  const state = {
    space: 0, moment: spaces[0].peak_step, pinned: false, buffer: -1, from: 0, to: steps, words: "", order: "size",
    hasChosen: false,  // `buffer`, by the user
  };

  function isAlive(i, space, step) {
    if (data.buffer_spaces[i] !== space.number) return false;
    if (data.lives[i] === ALWAYS) return true;
    if (data.lives[i] === IN_STEPS) return data.first[i] <= step && step <= last[i];
    return step === space.peak_step && space.inCalls.has(i);
  }

  // ---- who makes the temporaries ------------------------------------------------------------------------------------

  // A tree of the scopes in op_names: "jit(step)/layer_3/attention/dot_general" is in jit(step), layer_3, attention.
  // The open nodes are seen as their children; those that are not are the bands of the charts.
  const MAX_BANDS = 7;
  const palette = Array.from({length: MAX_BANDS}, (_, i) => `--band-${i}`);
  // The parts between slashes that are not in parentheses.
  function splitPath(path) {
    const parts = [""];
    let depth = 0;
    for (const letter of path) {
      depth += letter === "(" ? 1 : letter === ")" ? -1 : 0;
      if (letter === "/" && depth <= 0) parts.push("");
      else parts[parts.length - 1] += letter;
    }
    return parts;
  }
  // JAX wraps the scope of a layer where it differentiates: jvp(layer), transpose(jvp(layer)). All are that layer.
  const wrapper = /^(?:jvp|transpose|vmap|remat|checkpoint|rematted_computation|custom_[jv][vj]p(?:_call)?)\((.*)\)$/;
  function unwrapped(scope, depth = 0) {
    let name = scope;
    for (let found = wrapper.exec(name); found; found = wrapper.exec(name)) name = found[1];
    if (name === scope || depth === 20) return [name];
    return splitPath(name).flatMap((each) => unwrapped(each, depth + 1));
  }
  const scopesOf = (words) =>
    splitPath(words.split(";")[0]).slice(0, -1).flatMap((each) => unwrapped(each)).filter((each) => each !== "");
  const makeScope = (name, parent) => ({name, parent, children: new Map(), buffers: [], own: [], isOpen: false});
  const scopeTree = makeScope("", null);
  for (let i = 0; i < buffers; ++i) {
    if (data.lives[i] !== IN_STEPS) continue;
    let node = scopeTree;
    node.buffers.push(i);
    for (const name of scopesOf(text(data.op_names[i]))) {
      if (!node.children.has(name)) node.children.set(name, makeScope(name, node));
      node = node.children.get(name);
      node.buffers.push(i);
    }
    node.own.push(i);
  }
  // What is made in the scope itself is beside its children.
  function partsOf(node) {
    const parts = [...node.children.values()];
    if (node.own.length > 0 && parts.length > 0) parts.push({...makeScope("", node), buffers: node.own, isRest: true});
    return parts;
  }
  function nameOf(node) {
    if (!node.isRest) return node.name || "all temporaries";
    if (node.parent !== scopeTree) return `directly in ${node.parent.name}`;
    return node.buffers.every((i) => text(data.op_names[i]) === "") ? "no op_name" : "no scope";
  }
  const canOpen = (node) => node.children !== undefined && node.children.size > 0;
  function pathOf(node) {
    const names = [];
    for (let each = node; each && each !== scopeTree; each = each.parent) if (each.name) names.unshift(each.name);
    const path = names.join("/") || nameOf(node);
    return node.isRest && names.length > 0 ? `${path}, directly` : path;
  }
  // Of the scope in a space, at a step.
  function bytesAt(node, space, step) {
    return node.buffers.reduce((sum, i) => sum + (isAlive(i, space, step) ? data.bytes[i] : 0), 0);
  }
  // The leaves of the open tree, those with most at the space's peak first.
  function leaves(space) {
    const found = [];
    const visit = (node) => { if (node.isOpen && canOpen(node)) partsOf(node).forEach(visit); else found.push(node); };
    visit(scopeTree);
    return found.map((node) => ({node, peak: bytesAt(node, space, space.peak_step)})).sort((a, b) => b.peak - a.peak);
  }
  // At first as far open as there are colours: always what has most.
  function openScopes() {
    for (let count = 1; count < MAX_BANDS;) {
      const fits = (node) => count < 3 || count - 1 + partsOf(node).length <= MAX_BANDS;
      const next = leaves(spaces[0]).find(({node, peak}) => canOpen(node) && peak > 0 && fits(node));
      if (!next) return;
      next.node.isOpen = true;
      count += partsOf(next.node).length - 1;
    }
  }
  // By step, what each band has; the scopes without a colour of their own are one band together, the last.
  const bandsOf = new Map();
  function bands(space) {
    if (bandsOf.has(space)) return bandsOf.get(space);
    const sorted = leaves(space);
    const made = sorted.slice(0, MAX_BANDS).map(({node}, i) => ({nodes: [node], color: palette[i]}));
    if (sorted.length > MAX_BANDS) made.push({nodes: sorted.slice(MAX_BANDS).map(({node}) => node), color: "--muted"});
    for (const band of made) {
      band.sums = new Float64Array(steps + 1);
      for (const i of band.nodes.flatMap((node) => node.buffers)) {
        if (data.buffer_spaces[i] !== space.number) continue;
        band.sums[data.first[i]] += data.bytes[i];
        band.sums[last[i] + 1] -= data.bytes[i];
      }
      accumulate(band.sums);
    }
    bandsOf.set(space, made);
    return made;
  }
  function showScopes() {
    const space = spaces[state.space], list = element("scopes"), colors = new Map();
    for (const band of bands(space)) for (const node of band.nodes) colors.set(pathOf(node), band.color);
    const item = (node, depth) => {
      const made = make("li"), toggle = make("button", "toggle", node.isOpen ? "−" : "+");
      const isOpen = node.isOpen && canOpen(node);
      made.style.paddingLeft = `${depth * 16}px`;
      toggle.type = "button";
      toggle.disabled = !canOpen(node);
      toggle.setAttribute("aria-expanded", isOpen);
      toggle.setAttribute("aria-label", `${isOpen ? "Close" : "Open"} ${pathOf(node)}`);
      toggle.onclick = () => {
        node.isOpen = !node.isOpen;
        bandsOf.clear();
        drawCharts();
        showScopes();
      };
      const swatch = make("span", "swatch");
      if (isOpen) swatch.hidden = true;
      else swatch.style.background = `var(${colors.get(pathOf(node)) || "--muted"})`;
      const bytes = bytesAt(node, space, state.moment);
      made.append(toggle, swatch, make("bdi", "", nameOf(node)),
                  make("span", "bytes", human(bytes)));
      list.append(made);
      if (isOpen) {
        const parts = partsOf(node).map((part) => ({part, now: bytesAt(part, space, state.moment),
                                                   peak: bytesAt(part, space, space.peak_step)}));
        parts.sort((a, b) => b.now - a.now || b.peak - a.peak);
        parts.slice(0, 40).forEach(({part}) => item(part, depth + 1));
        if (parts.length > 40) list.append(make("li", "note", `and ${thousands(parts.length - 40)} more`));
      }
    };
    list.replaceChildren();
    if (scopeTree.children.size > 0) item(scopeTree, 0);
    element("scope-box").hidden = scopeTree.children.size === 0;
  }

  // ---- charts -------------------------------------------------------------------------------------------------------

  // In pixels: less, the more charts there are. The peak's line is at HEADROOM of it.
  const HEIGHT = [132, 108, 92, 80][spaces.length - 1] || 72, HEADROOM = 0.92;
  element("charts").style.setProperty("--height", `${HEIGHT}px`);

  const charts = spaces.map((space, number) => {
    const box = make("div", "chart"), head = make("div", "head"), plot = make("div", "plot"), canvas = make("canvas");
    const name = make("button", "name", space.name), peak = make("button", "to-peak"), over = make("div", "over");
    const isFlat = space.level_steps.length === 0;
    peak.textContent = isFlat ? "always the same" : `▲ peak at step ${thousands(space.peak_step)}`;
    peak.title = `${human(space.peak)}${isFlat ? "" : `, ${isolated(text(data.step_names[space.peak_step]))}`}`;
    name.type = peak.type = "button";
    const [cursor, hover, life] = ["cursor", "hover", "life"].map((each) => make("div", each));
    const parts = {box, plot, canvas, name, cursor, hover, life};
    parts.hover.hidden = parts.life.hidden = true;
    plot.tabIndex = 0;
    plot.setAttribute("role", "slider");
    plot.setAttribute("aria-label", `Moment, memory of ${space.name}`);
    plot.setAttribute("aria-valuemin", 0);
    plot.setAttribute("aria-valuemax", steps - 1);
    over.append(parts.hover, parts.cursor, parts.life);
    plot.append(canvas);
    head.append(name, peak);
    const scale = make("div", "scale");
    box.append(head, scale, plot);
    Object.assign(parts, {scale, levels: []});
    plot.append(over);
    element("charts").append(box);
    name.onclick = () => choose({space: number});
    peak.onclick = () => choose({space: number, moment: space.peak_step, pinned: true});
    plot.onfocus = () => { if (state.space !== number) choose({space: number}); };
    plot.onpointermove = (event) => point(number, event);
    plot.onpointerleave = () => leave();
    plot.onclick = (event) => choose({space: number, moment: stepAt(number, event), pinned: true});
    return parts;
  });
  if (undrawn.length > 0) {
    const names = undrawn.map((space) => `${space.name} (${human(space.peak)})`).join(", ");
    element("charts").append(make("p", "note", `Too little to be drawn: ${names}.`));
  }
  // What the bottom and the top of a chart stand for: all that is there, or the temporaries alone. The device's memory
  // is seen where a good part of it is used.
  const onlyTemporaries = () => element("only-temporaries").checked;
  const bottomOf = (space) => onlyTemporaries() ? space.resident : 0;
  const showsCapacity = (space) => space.capacity > 0 && space.peak >= space.capacity / 4;
  const topOf = (space) => Math.max(showsCapacity(space) ? Math.max(space.peak, space.capacity) : space.peak, 1);
  const rangeOf = (space) => Math.max((onlyTemporaries() ? space.peak : topOf(space)) - bottomOf(space), 1);
  // Round numbers of bytes, at most four of them, and the peak.
  function showScale(number) {
    const space = spaces[number], {scale, levels, plot} = charts[number];
    const range = rangeOf(space), peak = space.peak - bottomOf(space);
    const unit = 1024 ** Math.max(Math.floor(Math.log2(range) / 10), 0);
    let step = unit;
    levels.splice(0).forEach((each) => each.remove());
    scale.replaceChildren();
    for (const times of [0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500]) {
      step = Math.max(unit === 1 ? Math.ceil(times) : unit * times, 1);
      if (step * 4 >= range) break;
    }
    const label = (bytes, className) => {
      const made = make("span", className, human(bytes)), level = make("div", `level ${className || ""}`);
      made.style.bottom = level.style.bottom = `${bytes / range * HEADROOM * 100}%`;
      scale.append(made);
      plot.append(level);
      levels.push(level);
    };
    const room = 1 - 15 / (HEIGHT * HEADROOM);  // for the peak's own label
    const near = (a, b) => Math.abs(a - b) < range * (1 - room);
    const hasCapacity = showsCapacity(space) && !onlyTemporaries();
    for (let bytes = step; bytes < range; bytes += step) {
      if (!near(bytes, peak) && !(hasCapacity && near(bytes, space.capacity))) label(bytes);
    }
    if (hasCapacity) label(space.capacity, "capacity");
    if (!hasCapacity || !near(peak, space.capacity)) label(peak, "peak");
  }

  // The step that a column of pixels shows. Where it stands for several, it is the fullest of them and of those beside
  // it: so that no peak is lost, or too thin to be seen and to be found with the mouse.
  function stepInColumn(space, x, width) {
    const each = (state.to - state.from) / width, around = each > 1 ? 1 : 0;
    const begin = Math.max(Math.floor(state.from + (x - around) * each), state.from);
    const end = Math.min(Math.floor(state.from + (x + 1 + around) * each), state.to);
    let best = Math.min(begin, state.to - 1);
    for (let step = best + 1; step < end; ++step) if (space.total[step] > space.total[best]) best = step;
    return best;
  }
  function stepAt(number, event) {
    const box = charts[number].canvas.getBoundingClientRect();
    const x = Math.min(Math.max(Math.floor(event.clientX - box.left), 0), box.width - 1);
    return stepInColumn(spaces[number], x, box.width);
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

  function drawChart(number) {
    const space = spaces[number], canvas = charts[number].canvas;
    const ratio = window.devicePixelRatio || 1, width = Math.max(Math.round(canvas.clientWidth * ratio), 1);
    const height = Math.max(Math.round(canvas.clientHeight * ratio), 1);
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const resident = style.getPropertyValue("--resident"), temporary = style.getPropertyValue("--temporary");
    const stack = element("by-scope").checked && scopeTree.children.size > 0 ? bands(space) : [];
    const colors = stack.map((band) => style.getPropertyValue(band.color));
    const fills = [resident, hatch(context, resident), temporary, ...colors, hatch(context, temporary)];
    const scale = height * HEADROOM / rangeOf(space), bottom = bottomOf(space);
    const paths = fills.map(() => new Path2D());
    for (let x = 0; x < width; ++x) {
      const best = stepInColumn(space, x, width);
      const total = space.total[best], padding = Math.min(space.padding[best], total - space.resident);
      const tops = [space.resident - space.residentPadding, space.resident];
      if (stack.length === 0) {
        tops.push(total - padding, total);
      } else {
        let top = space.resident;
        tops.push(top, ...stack.map((band) => top += band.sums[best]), total);  // the rest is in called computations
      }
      let below = 0;
      tops.forEach((top, band) => {
        const y = Math.round((Math.min(top, total) - bottom) * scale);
        if (y > below) paths[band].rect(x, height - y, 1, y - below);
        below = Math.max(below, y);
      });
    }
    paths.forEach((path, i) => { context.fillStyle = fills[i]; context.fill(path); });
  }

  function drawCharts() {
    charts.forEach((_, number) => { showScale(number); drawChart(number); });
    drawAxis();
    showMarks();
  }
  function drawAxis() {
    const axis = element("axis"), most = Math.max(axis.clientWidth / 110, 1), span = state.to - state.from;
    let every = 1;
    while (span / every > most) every *= String(every)[0] === "2" ? 2.5 : 2;
    axis.replaceChildren();
    for (let step = Math.ceil(state.from / every) * every; step < state.to; step += every) {
      const label = make("span", "", axis.childElementCount === 0 ? `step ${thousands(step)}` : thousands(step));
      if (step === state.from) label.className = "at-edge";
      else label.style.left = `${percent(step + 0.5)}%`;
      axis.append(label);
    }
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
    const space = spaces[number], born = space.born[step], died = space.died[step];
    return `step ${thousands(step)}, ${isolated(text(data.step_names[step]))} (${text(data.step_operators[step])}): ` +
      `${human(space.total[step])} in ${space.name}${born > 0 ? `, ${human(born)} of it new` : ""}` +
      `${died > 0 ? `, ${human(died)} needed no more afterwards` : ""}`;
  }
  // With its op_name on a line of its own.
  function describeFully(number, step) {
    const opName = text(data.step_op_names[step]);
    return `${describe(number, step)}${opName ? `\n${isolated(opName)}` : ""}`;
  }

  let waiting = 0;
  function point(number, event) {
    const step = stepAt(number, event), tip = element("tip"), chart = charts[number];
    tip.textContent = describeFully(number, step);
    tip.hidden = chart.hover.hidden = false;
    chart.hover.style.left = `${percent(step + 0.5)}%`;
    tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
    const below = event.clientY + 18, above = Math.max(event.clientY - tip.offsetHeight - 10, 0);
    tip.style.top = `${below + tip.offsetHeight < innerHeight ? below : above}px`;
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

  // ---- the list -----------------------------------------------------------------------------------------------------

  // Of each buffer whether some text in it has the words.
  let lowered = null, found = {words: ""};
  function find(words) {
    if (words === found.words) return found.isHit;
    lowered = lowered || data.texts.map((each) => each.toLowerCase());
    const wanted = words.toLowerCase(), hits = Uint8Array.from(lowered, (each) => each.includes(wanted) ? 1 : 0);
    const isHit = Uint8Array.from(data.values, (value, i) =>
      hits[value] || hits[data.shapes[i]] || hits[data.op_names[i]] || hits[data.sources[i]] ||
      (data.others[i] || []).some((other) => hits[other]) ? 1 : 0);
    found = {words, isHit};
    return isHit;
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
    const where = data.lives[i] === IN_STEPS ? "" : " of a called computation";
    return `${thousands(data.first[i])}–${thousands(last[i])}${where}`;
  }

  function row(i, largest, alive) {
    const made = make("tr", (i === state.buffer ? "chosen" : "") + (alive ? "" : " away"));
    const extra = data.bytes[i] - data.unpadded[i];
    const cell = (content, className) => {
      const td = make("td", className);
      td.append(content);
      made.append(td);
      return td;
    };
    const name = make("button", "", text(data.values[i])), below = (content) => make("div", "below", content);
    name.type = "button";
    name.dataset.buffer = i;
    name.tabIndex = -1;
    name.setAttribute("aria-pressed", i === state.buffer);
    cell(share(i, largest), "number").append(human(data.bytes[i]));
    cell(extra > 0 ? human(extra) : "", "number").append(below(expansion(i)));
    cell(name).append(below(tail(text(data.op_names[i]))));
    cell(make("code", "", text(data.shapes[i])));
    cell(text(data.kinds[i])).append(below(text(data.operators[i])));
    cell(life(i));
    return made;
  }

  // In a long list, rows that differ in their names only are one, which can be opened: the same array of many layers.
  const LONG_LIST = 40, openGroups = new Set();
  const kindOf = (i) => [data.bytes[i], data.unpadded[i], data.shapes[i], data.kinds[i], data.operators[i]].join();
  function grouped(list) {
    if (list.length < LONG_LIST) return list.map((i) => [i]);
    const groups = new Map();
    for (const i of list) {
      if (!groups.has(kindOf(i))) groups.set(kindOf(i), []);
      groups.get(kindOf(i)).push(i);
    }
    return [...groups.values()].flatMap((group) => group.length > 2 ? [group] : group.map((i) => [i]));
  }
  function groupRows(group, largest, alive) {
    const rows = group.map((i) => row(i, largest, alive(i)));
    if (group.length === 1) return rows;
    const key = kindOf(group[0]), isOpen = openGroups.has(key) || group.includes(state.buffer) && state.hasChosen;
    const head = row(group[0], largest, alive(group[0])), name = make("button", "group");
    head.className = "group";
    name.type = "button";
    name.textContent = `${isOpen ? "▾" : "▸"} ${thousands(group.length)} equal ones, ${human(sumOf(group))} in all`;
    name.setAttribute("aria-expanded", isOpen);
    name.onclick = (event) => {
      event.stopPropagation();
      if (isOpen) openGroups.delete(key); else openGroups.add(key);
      showList();
    };
    head.cells[2].replaceChildren(name);
    head.cells[5].textContent = "";
    return isOpen ? [head, ...rows] : [head];
  }

  function sumOf(list) { return list.reduce((sum, i) => sum + data.bytes[i], 0); }
  const orders = {
    size: () => bySize,
    padding: () => byPadding = byPadding || sorted((i) => data.bytes[i] - data.unpadded[i]),
  };
  const buttons = () => Array.from(document.querySelectorAll("#buffers td button[data-buffer]"));

  function showList() {
    const space = spaces[state.space], searching = state.words !== "", isHit = searching && find(state.words);
    const alive = (i) => isAlive(i, space, state.moment);
    const list = Array.from(orders[state.order]().filter(searching ? (i) => isHit[i] : alive));
    const shown = list.slice(0, MAX_ROWS), largest = shown.reduce((most, i) => Math.max(most, data.bytes[i]), 0);
    const rows = grouped(shown).flatMap((group) => groupRows(group, largest, (i) => !searching || alive(i)));
    const rest = list.slice(MAX_ROWS);
    if (rest.length > 0) rows.push(note(sumOf(rest), `in ${thousands(rest.length)} more`));
    if (!searching) rows.push(...unlisted(space, space.total[state.moment] - sumOf(list)));
    element("buffers").tBodies[0].replaceChildren(...rows);
    const all = buttons(), entry = all.find((button) => Number(button.dataset.buffer) === state.buffer) || all[0];
    if (entry) entry.tabIndex = 0;
    const order = state.order === "size" ? "the largest first" : "most padding first";
    const are = list.length === 1 ? "1 buffer is" : `${thousands(list.length)} buffers are`;
    element("count").textContent = searching
      ? `${countOf(list)} of ${thousands(buffers)}, of any space and time; at this moment in ${space.name}: ` +
        `${countOf(list.filter(alive))}. The others are grey.`
      : `${are} alive in ${space.name}, ${order}`;
  }
  function countOf(list) {
    return `${thousands(list.length)} ${list.length === 1 ? "buffer" : "buffers"} (${human(sumOf(list))})`;
  }
  // What is there and is none of the module's buffers, or has a time of its own.
  function unlisted(space, bytes) {
    const inCalls = bytes - space.copies, notes = [];
    const copies = "of arguments that are results, of results that come twice";
    if (space.copies > 0) notes.push(note(space.copies, `in copies: ${copies}`));
    if (inCalls > 0) notes.push(note(inCalls, "in called computations"));
    return notes;
  }
  function note(bytes, content) {
    const made = make("tr"), cell = make("td", "", content);
    cell.colSpan = 5;
    made.append(make("td", "number", human(bytes)), cell);
    return made;
  }
  function sortBy(order) {
    state.order = order;
    document.querySelectorAll("#buffers th button").forEach((button) => {
      if (button.dataset.order === order) button.parentElement.setAttribute("aria-sort", "descending");
      else button.parentElement.removeAttribute("aria-sort");
    });
    showList();
  }

  // ---- the chosen buffer --------------------------------------------------------------------------------------------

  function showDetails() {
    const box = element("details"), i = state.buffer;
    if (i < 0) return;
    const facts = make("dl");
    const fact = (key, value) => { if (value) facts.append(make("dt", "", key), make("dd", "", value)); };
    const extra = data.bytes[i] - data.unpadded[i];
    fact("size", `${human(data.bytes[i])} (${thousands(data.bytes[i])} bytes)`);
    fact("padding", extra > 0 ? `${human(extra)} ${expansion(i) && `(${expansion(i)} expansion)`}` : "none");
    fact("kind", `${text(data.kinds[i])}, ${text(data.operators[i])}`);
    fact("space", (spaces.find((space) => space.number === data.buffer_spaces[i]) || {name: ""}).name);
    const place = data.places[i];
    if (place !== undefined) fact("lies in", `${text(data.values[place])}, while that is not needed`);
    fact("shape", text(data.shapes[i]));
    fact("steps", life(i));
    if (data.lives[i] === IN_STEPS) fact("last needed by", text(data.step_names[last[i]]));
    fact("op_name", text(data.op_names[i]));
    fact("source", text(data.sources[i]));
    const others = data.others[i] || [];
    fact("in its place", others.slice(0, 50).map(text).join(", ") + (others.length > 50 ? ", …" : ""));
    const shape = data.shapes[i], drawing = kashi.layoutFigure(data.figures[shape], text(shape));
    box.replaceChildren(make("h2", "", text(data.values[i])), facts, drawing);
    page.finish(box, text(data.values[i]));
  }
  // ---- what the user does -------------------------------------------------------------------------------------------

  function show() {
    showMarks();
    element("moment").textContent = `${state.pinned ? "Pinned: " : "At "}${describeFully(state.space, state.moment)}`;
    Object.assign(document.body.dataset, {step: state.moment, space: spaces[state.space].number, pinned: state.pinned});
    showScopes();
    showList();
  }
  function choose(change) {
    Object.assign(state, change);
    state.moment = Math.min(Math.max(state.moment, 0), steps - 1);
    keepInView();
    show();
    writeFragment();
  }
  function chooseBuffer(i) {
    const space = spaces.findIndex((each) => each.number === data.buffer_spaces[i]);
    const change = {buffer: i, hasChosen: true};
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
  function focusRow(by) {
    const all = buttons(), to = all[all.indexOf(document.activeElement) + by];
    if (!to) return;
    document.activeElement.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
  const move = (by) => choose({moment: state.moment + by, pinned: true});
  const unpin = () => choose({moment: spaces[state.space].peak_step, pinned: false});
  const many = () => Math.max(Math.round((state.to - state.from) / 20), 1);
  const keys = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    Escape: unpin,
    p: () => choose({moment: spaces[state.space].peak_step, pinned: true}),
    s: () => choose({space: (state.space + 1) % spaces.length}),
    "+": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => zoom(steps),
    "/": () => { element("search").focus(); element("search").select(); },
  };
  // Elsewhere these scroll.
  const keysOfChart = {
    ArrowDown: () => move(-1),
    ArrowUp: () => move(1),
    PageUp: () => move(-many()),
    PageDown: () => move(many()),
    Home: () => move(-steps),
    End: () => move(steps),
  };
  const keysOfList = {ArrowDown: () => focusRow(1), ArrowUp: () => focusRow(-1)};

  function keysAt(target) {
    if (target.classList.contains("plot")) return {...keys, ...keysOfChart};
    return target.dataset.buffer === undefined ? keys : {...keys, ...keysOfList};
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || element("large").open || !page.isShown()) return;
    if (event.target.id === "search") {
      if (event.key === "Escape") { search(""); element("search").value = ""; element("search").blur(); }
      return;
    }
    const here = keysAt(event.target), action = here[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  function search(words) {
    state.words = words.trim();
    showList();
    writeFragment();
  }
  element("search").addEventListener("input", (event) => search(event.target.value));
  element("buffers").addEventListener("click", (event) => {
    const order = event.target.closest("th button"), line = event.target.closest("tbody tr");
    const button = line && line.querySelector("button[data-buffer]");
    if (order) sortBy(order.dataset.order);
    // To mark text in a row is to copy it, not to choose the buffer.
    if (button && getSelection().isCollapsed) chooseBuffer(Number(button.dataset.buffer));
  });
  element("only-temporaries").onchange = element("by-scope").onchange = drawCharts;
  element("zoom-in").onclick = () => zoom(0.5);
  element("zoom-out").onclick = () => zoom(2);
  element("zoom-all").onclick = () => zoom(steps);

  function readFragment() {
    const wanted = page.fragment();
    const space = spaces.findIndex((each) => String(each.number) === wanted.get("space"));
    const change = {};
    if (space >= 0) Object.assign(change, {space, moment: spaces[space].peak_step});
    const step = wanted.get("step") || "";
    if (/^\d+$/.test(step)) Object.assign(change, {moment: Number(step), pinned: true});
    element("search").value = wanted.get("search") || "";
    state.words = element("search").value.trim();
    choose(change);
    const buffer = wanted.has("buffer") ? data.values.findIndex((value) => text(value) === wanted.get("buffer")) : -1;
    if (buffer >= 0) chooseBuffer(buffer);
  }
  // What is shown becomes the page's address, to be sent to others; when it has come to rest, as browsers limit how
  // often that may be done.
  let writing = 0;
  function writeFragment() {
    clearTimeout(writing);
    writing = setTimeout(() => {
      const parts = new URLSearchParams({space: spaces[state.space].number});
      if (state.pinned) parts.set("step", state.moment);
      if (state.words) parts.set("search", state.words);
      if (state.hasChosen) parts.set("buffer", text(data.values[state.buffer]));
      page.setFragment(parts);
    }, 250);
  }
  // At first the largest buffer of that moment.
  function chooseFirst() {
    const first = bySize.find((i) => isAlive(i, spaces[state.space], state.moment));
    if (first === undefined) return;
    state.buffer = first;
    show();
    showDetails();
  }

  element("explorer").hidden = false;
  openScopes();
  drawCharts();
  readFragment();
  if (state.buffer < 0) chooseFirst();
  addEventListener("resize", () => { if (page.isShown()) drawCharts(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (page.isShown()) drawCharts(); });
  return {
    redraw: drawCharts, readFragment,
    // Shows the buffer of a value by its name; false if there is none.
    chooseByName(name) {
      const buffer = data.values.findIndex((value, i) =>
        text(value) === name || (data.others[i] || []).some((other) => text(other) === name));
      if (buffer >= 0) chooseBuffer(buffer);
      return buffer >= 0;
    },
  };
};
