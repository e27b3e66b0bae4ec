// All that is known of one instruction: beside the graph, the text and the tables.
"use strict";
kashi.showFacts = (box, model, i, on) => {
  const {data, text} = model, {make, human, thousands} = kashi;
  const MOST_LINKS = 30;
  if (i < 0) {
    const hint = "Choose an instruction: its shape, layout, cost, operands and users come here.";
    box.replaceChildren(make("p", "note", hint));
    return;
  }
  const facts = make("dl");
  const fact = (key, ...values) => {
    if (values.length === 0 || values[0] === "") return;
    const dd = make("dd");
    dd.append(...values);
    facts.append(make("dt", "", key), dd);
  };
  const link = (each) => {
    const made = make("button", "link", model.name(each));
    made.type = "button";
    made.dataset.instruction = each;
    made.title = `${model.opcode(each)} ${model.shape(each)}`;
    made.onclick = () => on.select(each);
    return made;
  };
  const links = (key, list) => {
    if (list.length === 0) return;
    const items = make("ul", "links");
    for (const each of list.slice(0, MOST_LINKS)) {
      const item = make("li");
      item.append(link(each), " ", make("code", "", kashi.shorten(model.shape(each), 40)));
      items.append(item);
    }
    if (list.length > MOST_LINKS) items.append(make("li", "note", `and ${thousands(list.length - MOST_LINKS)} more`));
    fact(`${key}${list.length > 1 ? ` (${thousands(list.length)})` : ""}`, items);
  };
  const c = model.computationOf[i], count = data.computation_counts[c];
  fact("operation", `${model.opcode(i)}${model.isRoot(i) ? ", the root" : ""}`);
  fact("shape", make("code", "", model.shape(i)));
  fact("size", `${human(data.bytes[i])}${data.bytes[i] >= 1024 ? ` (${thousands(data.bytes[i])} bytes)` : ""}`);
  const where = make("span", "", model.computationName(c));
  fact("in", where, ...(model.callers[c].length === 0 ? [] : [", called by ", ...model.callers[c].slice(0, 5).flatMap(
    (each, k) => k === 0 ? [link(each)] : [", ", link(each)])]));
  fact("scope", model.scopePath(data.scopes[i]).join("/"));
  fact("op_name", text(data.op_names[i]));
  fact("source", text(data.sources[i]));
  if (data.flops[i] + data.transcendentals[i] + data.traffic[i] > 0) {
    fact("runs", kashi.numberText(count));
    const percent = data.total_seconds > 0 ? model.seconds(i) / data.total_seconds * 100 : 0;
    const share = percent > 0 ? `, ${Number(percent.toPrecision(2))} % of all` : "";
    fact("time", `at least ${kashi.timeText(model.seconds(i))} on ${data.target}${share}; bound by ${
      kashi.BOUNDS[data.bounds[i]]}${data.wasted[i] > 0 ? `; ${kashi.timeText(data.wasted[i])} on padding` : ""}`);
    fact("flops", kashi.numberText(data.flops[i]) + (data.transcendentals[i] > 0 ?
      ` and ${kashi.numberText(data.transcendentals[i])} transcendentals` : ""));
    fact("reads and writes", `${human(Math.round(data.traffic[i]))}${count > 1 ? " in all runs" : ""}`);
  }
  if (model.isCritical[i] === 1) fact("critical path", "yes, of its computation");
  const sharding = data.shardings[i];
  if (sharding !== undefined) fact("sharding", make("code", "", text(sharding)));
  links(model.operandsOf(i).length === 1 ? "operand" : "operands", model.operandsOf(i));
  links("waits for", data.controls[i] || []);
  links(model.usersOf(i).length === 1 ? "user" : "users", model.usersOf(i));
  const calls = model.callsOf(i);
  if (calls.length > 0) fact("calls", ...calls.slice(0, 8).flatMap((called, k) => {
    const made = make("button", "link", model.computationName(called));
    made.type = "button";
    made.onclick = () => on.select(data.roots[called]);
    return k === 0 ? [made] : [", ", made];
  }));
  const rest = text(data.rests[i]).replace(/^\)?,? ?/, "");
  fact("attributes", rest === "" || rest === "()" ? "" : make("code", "", rest));
  if (data.configs[i] !== undefined) fact("backend_config", make("code", "", text(data.configs[i])));
  box.replaceChildren(make("h2", "", model.name(i)), on.buttons(i), facts);
  if (sharding !== undefined && data.sharding_figures[i] !== undefined) {
    box.append(make("h3", "", "Which device has which part"), make("pre", "", text(data.sharding_figures[i])));
  }
  const place = make("div");
  box.append(place);
  data.memory().then((memory) => {
    const drawing = memory.figures && memory.figures[data.shapes[i]];
    if (drawing === undefined || !place.isConnected) return;
    place.append(make("h3", "", "How it lies in memory"), kashi.layoutFigure(drawing, model.shape(i)));
  });
};
