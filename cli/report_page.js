// The page of `kashi report` and `kashi serve`: the list of modules, a module, two modules side by side.
//
// The element `index` has {modules: [{name, stages: [{key, title, file, bytes}]}], pairs: [[key, key]], isLive}. All
// other data have a key: "module/KEY", "memory/KEY", "passes/NUMBER" and "compare/KEY/KEY". They are elements of the
// page, or come from the server, which answers {key: data}; the memory comes with its module. A fragment says what to
// show: #module=m0&tab=text&at=dot.3, or #compare=m0,m1.
"use strict";
(() => {
  const {make, thousands, human} = kashi, element = (id) => document.getElementById(id);
  const index = JSON.parse(element("index").textContent);
  const stages = new Map(index.modules.flatMap((module, number) => module.stages.map((stage) =>
    [stage.key, {...stage, module, number}])));
  const TABS = ["graph", "text", "memory", "cost"];

  // ---- data -------------------------------------------------------------------------------------------------------

  const problem = (message) => {
    element("problem").hidden = message === "";
    element("problem").textContent = message;
  };
  // The data that the first view may not need come after this script.
  const parsed = document.readyState !== "loading" ? Promise.resolve() :
    new Promise((done) => document.addEventListener("DOMContentLoaded", done));
  const hasData = (key) => index.isLive || element(key) !== null;
  const waiting = new Map();
  function load(key) {
    if (!waiting.has(key)) waiting.set(key, fetchData(key));
    return waiting.get(key);
  }
  async function fetchData(key) {
    if (element(key) === null) await parsed;
    const inPage = element(key);
    if (inPage !== null) {
      const data = JSON.parse(inPage.textContent);
      inPage.textContent = "";  // it is kept once
      return data;
    }
    if (!index.isLive) throw new Error("This page does not have it. kashi serve shows all of a directory.");
    const answer = await fetch(key);
    const all = await answer.json().catch(() => ({error: `The server answers with status ${answer.status}.`}));
    if (all.error !== undefined) { waiting.delete(key); throw new Error(all.error); }
    for (const other of Object.keys(all)) if (other !== key) waiting.set(other, Promise.resolve(all[other]));
    return all[key];
  }
  const models = new Map();
  async function modelOf(key) {
    const data = await load(`module/${key}`);
    if (!models.has(key)) {
      data.memory = async () => ({...await load(`memory/${key}`), texts: data.texts});
      const model = kashi.makeModel(data);
      model.title = stages.get(key) ? stages.get(key).title : data.module;
      models.set(key, model);
    }
    return models.get(key);
  }

  // ---- the address ------------------------------------------------------------------------------------------------

  let address = new URLSearchParams(location.hash.slice(1)), writing = 0;
  function setAddress(change) {
    for (const [key, value] of Object.entries(change)) {
      if (value === null || value === "") address.delete(key); else address.set(key, value);
    }
    clearTimeout(writing);  // browsers limit how often it may be written
    writing = setTimeout(() => {
      try { history.replaceState(null, "", `#${address}`); } catch { /* a browser that does not want it for files */ }
    }, 250);
  }

  // ---- a module ---------------------------------------------------------------------------------------------------

  let shown = null;  // {kind: "module", …} or {kind: "compare", …} or {kind: "home"}
  function leave() {
    shown = null;
    element("tip").hidden = true;
    problem("");
  }

  function showModel(key, model) {
    leave();
    element("view").replaceChildren(element("module-view").content.cloneNode(true));
    const me = {kind: "module", key, model, tab: "", selected: -1, before: [], parts: {}};
    shown = me;
    const {data} = model, isMe = () => shown === me;
    const on = {select: (i) => select(i), changed: () => showStatus(), hover};
    const find = kashi.makeSearch(model);
    element("summary").textContent = `${kashi.count(model.count, "instruction")} in ${
      kashi.count(model.computations, "computation")}; at least ${kashi.timeText(data.total_seconds)} on ${
      data.target}${data.target_is_guess ? " (a guess)" : ""}`;

    function graph() {
      if (me.parts.graph) return me.parts.graph;
      me.parts.graph = kashi.showGraph(element("graph"), model, on);
      const resize = () => { if (isMe() && me.tab === "graph") me.parts.graph.resize(); };
      new ResizeObserver(resize).observe(element("graph"));
      me.parts.graph.showModule();
      showLegend();
      return me.parts.graph;
    }
    function text() {
      me.parts.text = me.parts.text || kashi.showText(element("text"), model, on);
      return me.parts.text;
    }
    // Made once; null if the memory is not known, or the module has no steps.
    function memory() {
      me.parts.memory = me.parts.memory || data.memory().then(makeMemory);
      return me.parts.memory;
    }
    function makeMemory(known) {
      showTotals(known);
      if (known.problem !== undefined) return null;
      return kashi.showMemory(known, {
        isShown: () => isMe() && me.tab === "memory",
        fragment: () => address,
        setFragment: (parameters) => setAddress(Object.fromEntries(
          ["space", "step", "search", "buffer"].map((name) => [name, parameters.get(name)]))),
        finish(box, value) {
          const i = model.find(value.replace(/\{[\d,]*\}$/, ""));
          if (i < 0) return;
          const line = make("p"), button = make("button", "", "Show it in the graph");
          button.type = "button";
          button.onclick = () => { select(i); showTab("graph"); };
          line.append(button);
          box.children[0].after(line);
        },
      });
    }
    function cost() {
      me.parts.cost = me.parts.cost || kashi.showCost(element("pane-cost"), model, on);
      return me.parts.cost;
    }
    function showTotals(known) {
      const columns = ["space", "peak", "padding", "arguments", "outputs", "aliased", "constants", "temporaries",
                       "scratch"];
      const notes = [data.global_note];
      if (known.problem !== undefined) notes.push(`The memory is not known: ${known.problem}`);
      else {
        notes.push(known.basis === "estimate" ? "The temporaries are an estimate: what is alive at once." : "");
        notes.push(data.has_schedule ? "" : "The module has no schedule; Kashi chose the order of its instructions.");
        const head = make("thead"), row = make("tr"), body = make("tbody");
        columns.forEach((name, k) => {
          const cell = make("th", k > 0 ? "number" : "", name);
          cell.scope = "col";
          row.append(cell);
        });
        head.append(row);
        known.spaces.forEach((space, k) => {
          const line = make("tr"), name = make("th", "", space.name);
          name.scope = "row";
          line.append(name, ...known.totals[k].map((bytes, n) => {
            const cell = make("td", `number${bytes === 0 ? " zero" : ""}`, human(bytes));
            cell.dataset.column = columns[n + 1];
            return cell;
          }));
          body.append(line);
        });
        element("memory-totals").replaceChildren(head, body);
      }
      element("memory-note").textContent = notes.filter((note) => note !== "").join(" ");
    }

    // What each view shows is made when it is seen first.
    function showTab(tab) {
      me.tab = tab;
      for (const each of TABS) {
        element(`pane-${each}`).hidden = each !== tab;
        element(`tab-${each}`).setAttribute("aria-selected", each === tab);
        element(`tab-${each}`).tabIndex = each === tab ? 0 : -1;
      }
      document.querySelector(".split").classList.toggle("alone", tab === "memory");
      if (tab === "graph") {
        graph();
        if (graph().state.selected !== me.selected) graph().select(me.selected);
        graph().draw();
      }
      if (tab === "text") { text().draw(); if (me.selected >= 0) text().select(me.selected); }
      if (tab === "memory") memory().then((view) => { if (view !== null && me.tab === "memory") view.redraw(); });
      if (tab === "cost") cost();
      setAddress({tab: tab === "graph" ? null : tab});
      showStatus();
    }
    function select(i, remembers = true) {
      if (remembers && me.selected >= 0 && me.selected !== i) me.before.push(me.selected);
      me.selected = i;
      showFacts();
      if (me.tab === "graph") graph().select(i);
      if (me.tab === "text") text().select(i);
      setAddress({at: i < 0 ? null : model.name(i)});
      showStatus();
    }
    function showFacts() {
      kashi.showFacts(element("facts"), model, me.selected, {
        select,
        buttons(i) {
          const line = make("p", "group");
          const button = (name, title, action) => {
            const made = make("button", "", name);
            made.type = "button";
            made.title = title;
            made.onclick = action;
            line.append(made);
          };
          if (me.before.length > 0) button("Back", "Key: b", back);
          button("In the graph", "Key: g", () => { showTab("graph"); graph().select(i); });
          button("In the text", "Key: t", () => showTab("text"));
          if (model.callsOf(i).length > 0) button("Open or close", "Key in the graph: Enter", () => {
            showTab("graph");
            graph().select(i);
            graph().toggle(graph().selectedNode());
          });
          button("Its memory", "Key: m", async () => {
            showTab("memory");
            const there = await memory();
            if (there !== null && !there.chooseByName(model.name(i))) there.chooseByName(`${model.name(i)}{}`);
          });
          return line;
        },
      });
    }
    function back() {
      if (me.before.length > 0) select(me.before.pop(), false);
    }
    function around() {
      if (me.selected < 0) return;
      graph().showAround(me.selected, Math.min(Math.max(Number(element("graph-depth").value) || 2, 1), 20));
    }
    function showStatus() {
      if (!isMe() || !me.parts.graph) return;
      const {state} = graph(), i = me.selected, node = graph().selectedNode();
      element("graph-whole").setAttribute("aria-pressed", state.around < 0);
      element("graph-around").setAttribute("aria-pressed", state.around >= 0);
      element("graph-around").disabled = i < 0;
      const shape = i < 0 ? "" : `: ${model.opcode(i)} ${model.shape(i)}`;
      const isIn = node !== null && node.instruction !== i ? `, in ${node.label}` : "";
      const hint = "Click a box to open it, an instruction to choose it. Drag moves, the wheel zooms.";
      element("graph-status").textContent = i < 0 ? hint :
        `${kashi.isolated(model.name(i))}${shape}${isIn}; ${kashi.count(model.operandsOf(i).length, "operand")}, ${
          kashi.count(model.usersOf(i).length, "user")}${model.isCritical[i] ? "; on the critical path" : ""}`;
    }
    function showLegend() {
      const list = element("graph-legend"), item = (color, name) => {
        const made = make("li"), swatch = make("span", "swatch");
        swatch.style.background = `var(--${color})`;
        made.append(swatch, name);
        return made;
      };
      const kinds = {parameter: "parameter", constant: "constant", call: "fusion, call", matrix: "dot, convolution",
                     elementwise: "elementwise", move: "moves elements", collective: "collective", other: "other"};
      const used = new Set(data.opcode_kinds);
      const line = make("li", "", "wider lines carry more bytes; ");
      const path = make("span", "path-mark", "critical path");
      line.append(path, ` ${kashi.timeText(data.critical_seconds)} of ${kashi.timeText(data.total_seconds)}`);
      const shares = ["none", "to 0.06 %", "to 0.4 %", "to 2.5 %", "to 16 %", "more of the time"];
      const items = graph().state.colors === "time" ? shares.map((share, k) => item(`heat-${k}`, share)) :
        Object.keys(kinds).filter((kind) => used.has(kind)).map((kind) => item(`node-${kind}`, kinds[kind]));
      list.replaceChildren(...items, line);
    }
    function hover(node, event, describe) {
      const tip = element("tip");
      tip.hidden = node === null;
      if (node === null) return;
      tip.textContent = describe(node);
      tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
      const below = event.clientY + 18, above = Math.max(event.clientY - tip.offsetHeight - 10, 0);
      tip.style.top = `${below + tip.offsetHeight < innerHeight ? below : above}px`;
    }

    // ---- search
    const finder = element("find"), results = element("found");
    let hits = [], marked = 0;
    function showResults() {
      const MOST = 50, words = finder.value.trim();
      hits = words === "" ? [] : find(words);
      marked = 0;
      results.hidden = words === "";
      finder.setAttribute("aria-expanded", !results.hidden);
      results.replaceChildren(...hits.slice(0, MOST).map((i, k) => {
        const item = make("li");
        item.id = `hit-${k}`;
        item.setAttribute("role", "option");
        item.dataset.instruction = i;
        item.append(make("b", "", model.name(i)), ` ${model.opcode(i)} `,
                    make("code", "", kashi.shorten(model.shape(i), 40)),
                    make("div", "below", kashi.tail(model.text(data.op_names[i]))));
        return item;
      }), make("li", "note", hits.length === 0 ? "nothing found" : `${thousands(hits.length)} of ${
        kashi.count(model.count, "instruction")}${hits.length > MOST ? `; the first ${MOST}` : ""}`));
      mark(0);
    }
    function mark(k) {
      marked = Math.min(Math.max(k, 0), Math.min(hits.length, 50) - 1);
      [...results.querySelectorAll("[role=option]")].forEach((item, n) => {
        item.setAttribute("aria-selected", n === marked);
        if (n === marked) item.scrollIntoView({block: "nearest"});
      });
      finder.setAttribute("aria-activedescendant", hits.length > 0 ? `hit-${marked}` : "");
    }
    function closeResults() {
      results.hidden = true;
      finder.setAttribute("aria-expanded", false);
    }
    function take(i) {
      closeResults();
      finder.blur();
      if (me.tab === "memory" || me.tab === "cost") showTab("graph");
      select(i);
      (me.tab === "graph" ? element("graph") : element("text")).focus({preventScroll: true});
    }
    finder.oninput = showResults;
    finder.onfocus = () => { if (finder.value.trim() !== "") showResults(); };
    finder.onkeydown = (event) => {
      const actions = {
        ArrowDown: () => mark(marked + 1), ArrowUp: () => mark(marked - 1),
        Enter: () => { if (hits.length > 0) take(hits[marked]); },
        Escape: () => { finder.value = ""; closeResults(); finder.blur(); },
      };
      if (!(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    };
    finder.onblur = () => setTimeout(() => { if (document.activeElement !== finder) closeResults(); }, 200);
    results.onpointerdown = (event) => {
      const item = event.target.closest("[data-instruction]");
      event.preventDefault();
      if (item !== null) take(Number(item.dataset.instruction));
    };

    // ---- buttons and keys
    for (const tab of TABS) element(`tab-${tab}`).onclick = () => showTab(tab);
    document.querySelector(".tabs").onkeydown = (event) => {
      const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      showTab(TABS[(TABS.indexOf(me.tab) + by + TABS.length) % TABS.length]);
      element(`tab-${me.tab}`).focus();
    };
    element("keys-button").onclick = () => element("keys").showModal();
    element("graph-whole").onclick = () => graph().showModule();
    element("graph-around").onclick = around;
    element("graph-depth").onchange = () => { if (graph().state.around >= 0) around(); };
    element("graph-in").onclick = () => graph().zoom(1.4);
    element("graph-out").onclick = () => graph().zoom(1 / 1.4);
    element("graph-fit").onclick = () => graph().fit();
    element("graph-open").onclick = () => graph().openMany(200_000);
    element("graph-close").onclick = () => graph().closeAll();
    element("graph-colors").onchange = () => {
      graph().state.colors = element("graph-colors").value;
      showLegend();
      graph().draw();
    };
    element("graph-path").onchange = () => { graph().state.path = element("graph-path").checked; graph().draw(); };
    element("text-fold").onclick = () => text().foldAll(false);
    element("text-unfold").onclick = () => text().foldAll(true);

    const step = (list) => { if (list.length > 0) select(list[0]); };
    const keys = {
      "/": () => { finder.focus(); finder.select(); }, "?": () => element("keys").showModal(),
      g: () => showTab("graph"), t: () => showTab("text"), m: () => showTab("memory"), c: () => showTab("cost"),
      b: back,
    };
    const selectionKeys = {
      o: () => { if (me.selected >= 0) step(model.operandsOf(me.selected)); },
      u: () => { if (me.selected >= 0) step(model.usersOf(me.selected)); },
    };
    const graphKeys = {
      "+": () => graph().zoom(1.25), "=": () => graph().zoom(1.25), "-": () => graph().zoom(0.8),
      0: () => graph().fit(),
      n: around, w: () => graph().showModule(), e: () => graph().openMany(200_000), x: () => graph().closeAll(),
      Escape: () => select(-1),
    };
    const canvasKeys = {
      ArrowLeft: () => graph().pan(60, 0), ArrowRight: () => graph().pan(-60, 0), ArrowUp: () => graph().pan(0, 60),
      ArrowDown: () => graph().pan(0, -60), Enter: () => graph().toggle(graph().selectedNode()),
    };
    me.keys = (event) => ({...keys, ...(me.tab === "memory" ? {} : selectionKeys),
                           ...(me.tab === "graph" ? graphKeys : {}),
                           ...(event.target.id === "graph" ? canvasKeys : {})});
    me.recolor = () => { if (me.parts.graph) me.parts.graph.recolor(); };
    me.select = select;
    me.showTab = showTab;
    me.readAddress = () => {
      const at = address.has("at") ? model.find(address.get("at")) : -1;
      if (at >= 0) me.selected = at;
      showFacts();
      showTab(TABS.includes(address.get("tab")) ? address.get("tab") : "graph");
      if (at >= 0 && me.tab === "graph") graph().select(at);
    };
    kashi.shown = me;  // for tests
    me.graph = graph;
    me.readAddress();
  }

  // ---- the list of modules ----------------------------------------------------------------------------------------

  function openButton(key, name) {
    const made = make("button", "link", name);
    made.type = "button";
    made.disabled = !hasData(`module/${key}`);
    made.onclick = () => go({module: key});
    return made;
  }
  function showHome() {
    leave();
    shown = {kind: "home", keys: () => ({}), recolor() {}};
    kashi.shown = shown;
    const table = make("table"), head = make("thead"), row = make("tr"), body = make("tbody");
    table.id = "module-list";
    for (const name of ["module", "stages", "size", "first", "last", "passes"]) row.append(make("th", "", name));
    head.append(row);
    index.modules.forEach((module, number) => {
      const line = make("tr"), cell = (name, ...content) => {
        const made = make("td");
        made.dataset.column = name;
        made.append(...content);
        line.append(made);
      };
      const first = module.stages[0], last = module.stages[module.stages.length - 1];
      const name = make("th", "", module.name);
      name.scope = "row";
      line.append(name);
      cell("stages", thousands(module.stages.length));
      cell("size", human(module.stages.reduce((sum, stage) => sum + stage.bytes, 0)));
      cell("first", first ? openButton(first.key, first.title) : "");
      cell("last", last && last !== first ? openButton(last.key, last.title) : "");
      const passes = make("button", "link", module.stages.length > 1 ? "what each did" : "");
      passes.type = "button";
      passes.onclick = () => go({passes: number});
      cell("passes", passes);
      body.append(line);
    });
    table.append(head, body);
    const wide = make("div", "wide");
    wide.append(table);
    element("view").replaceChildren(make("h2", "", kashi.count(index.modules.length, "module")), wide, chooser());
  }
  // Any two stages, as far as their comparison is here.
  function chooser() {
    const line = make("p", "choices"), a = make("select"), b = make("select"), button = make("button", "", "Compare");
    for (const select of [a, b]) for (const [key, stage] of stages) {
      select.append(new Option(index.modules.length > 1 ? `${stage.module.name}: ${stage.title}` : stage.title, key));
    }
    a.setAttribute("aria-label", "Module A");
    b.setAttribute("aria-label", "Module B");
    [a.id, b.id, button.id] = ["compare-a", "compare-b", "compare"];
    if (index.pairs.length > 0) [a.value, b.value] = index.pairs[0];
    button.type = "button";
    const check = () => { button.disabled = !hasData(`compare/${a.value}/${b.value}`); };
    a.onchange = b.onchange = check;
    check();
    button.onclick = () => go({compare: `${a.value},${b.value}`});
    line.append("Side by side: ", a, " and ", b, button);
    line.hidden = stages.size < 2;
    return line;
  }

  function showPasses(number, rows) {
    leave();
    shown = {kind: "passes", keys: () => ({}), recolor() {}};
    kashi.shown = shown;
    const module = index.modules[number], table = make("table"), head = make("thead"), row = make("tr");
    const body = make("tbody"), numbers = ["instructions", "peak", "flops", "bytes", "time"];
    const columns = ["stage", "instructions", "peak", "flops", "bytes", "time", "changes", "side by side"];
    const figure = (each, write) => each === null || each === undefined ? "?" : write(each);
    table.id = "passes";
    for (const name of columns) row.append(make("th", numbers.includes(name) ? "number" : "", name));
    head.append(row);
    let before = null;
    for (const each of rows.rows) {
      const line = make("tr", each.changes === "" ? "away" : ""), name = make("th");
      name.scope = "row";
      name.append(openButton(each.key, stages.get(each.key).title));
      line.append(name);
      const cells = [thousands(each.instructions), figure(each.peak_bytes, human), figure(each.flops, kashi.numberText),
                     figure(each.bytes_accessed, (bytes) => human(Math.round(bytes))),
                     figure(each.seconds, kashi.timeText)];
      cells.forEach((content, k) => {
        const cell = make("td", "number", content);
        cell.dataset.column = columns[k + 1];
        line.append(cell);
      });
      const changes = make("td", "", before === null ? "" : each.changes || "nothing"), compare = make("td");
      changes.dataset.column = "changes";
      compare.dataset.column = "side by side";
      if (before !== null && hasData(`compare/${before}/${each.key}`)) {
        const pair = `${before},${each.key}`, button = make("button", "link", "with the one before");
        button.type = "button";
        button.onclick = () => go({compare: pair});
        compare.append(button);
      }
      line.append(changes, compare);
      body.append(line);
      before = each.key;
    }
    table.append(head, body);
    const wide = make("div", "wide");
    wide.append(table);
    element("view").replaceChildren(make("h2", "", `The stages of ${module.name}`), wide);
  }

  function showPair(keys, a, b, data) {
    leave();
    const box = make("div", "compare-box");
    element("view").replaceChildren(box);
    const view = kashi.showComparison(box, a, b, data);
    shown = {kind: "compare", view, keys: () => ({n: () => view.jump(1), p: () => view.jump(-1)}), recolor() {}};
    kashi.shown = shown;
  }

  // ---- what is shown ------------------------------------------------------------------------------------------------

  function showPlaces() {
    const places = element("places"), only = index.modules.length === 1 && stages.size === 1;
    places.hidden = only;
    if (only) return;
    const home = make("button", "", "All modules"), crumbs = [home];
    home.type = "button";
    home.onclick = () => go({});
    const key = address.get("module"), stage = stages.get(key);
    if (stage && stage.module.stages.length > 1) {
      const passes = make("button", "", stage.module.name);
      passes.type = "button";
      passes.onclick = () => go({passes: stage.number});
      crumbs.push(passes);
    }
    if (stage) crumbs.push(make("bdi", "", stage.module.stages.length > 1 ? stage.title : stage.module.name));
    if (address.has("compare")) {
      crumbs.push(make("bdi", "", address.get("compare").split(",").map((each) =>
        stages.has(each) ? stages.get(each).title : each).join(" → ")));
    }
    places.replaceChildren(...crumbs);
  }
  async function show() {
    const isBusy = make("p", "note", "Reading …");
    showPlaces();
    if (stages.size > 1) await parsed;  // it shows which data there are
    try {
      if (address.has("compare")) {
        const [a, b] = address.get("compare").split(",");
        element("view").replaceChildren(isBusy);
        showPair([a, b], await modelOf(a), await modelOf(b), await load(`compare/${a}/${b}`));
      } else if (address.has("module")) {
        const key = address.get("module");
        if (!models.has(key)) element("view").replaceChildren(isBusy);
        showModel(key, await modelOf(key));
      } else if (address.has("passes") && index.modules[address.get("passes")] !== undefined) {
        element("view").replaceChildren(isBusy);
        showPasses(Number(address.get("passes")), await load(`passes/${address.get("passes")}`));
      } else if (stages.size === 1) {
        const [key] = stages.keys();
        showModel(key, await modelOf(key));
      } else {
        showHome();
      }
    } catch (error) {
      isBusy.remove();
      problem(error.message);
    }
    performance.mark("shown");
    document.body.dataset.ready = Number(document.body.dataset.ready || 0) + 1;  // for tests
  }
  // To another module or list: the browser's button leads back.
  function go(change) {
    address = new URLSearchParams(change);
    clearTimeout(writing);
    try { history.pushState(null, "", `#${address}`); } catch { /* a browser that does not want it for files */ }
    scrollTo(0, 0);
    return show();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || shown === null) return;
    if (element("large").open || element("keys").open) return;
    if (event.target.matches("input, select, textarea")) return;
    const action = shown.keys(event)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  addEventListener("hashchange", () => {
    address = new URLSearchParams(location.hash.slice(1));
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (shown) shown.recolor(); });
  show();
})();
