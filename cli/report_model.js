// A module of the page. Data, from cli/report_data.cc, all of them columns:
//   texts                        each text once; wherever a text is meant below, its number stands
//   computation_names            by computation, texts; ENTRY is computation 0
//   computation_begins           its first instruction: those of a computation follow one another
//   computation_counts           how often it runs
//   computation_seconds          its critical path, one run
//   roots                        by computation, its root
//   names, opcodes, shapes, rests, op_names, sources    by instruction, texts; opcodes are numbers of opcode_names
//   configs, shardings           {instruction: text}
//   operand_counts, operands     the operands one after another; an operand is written as instruction - operand
//   controls, calls              {instruction: [instructions before it]}, {instruction: [computations]}
//   bytes                        of the result
//   flops, transcendentals, traffic, seconds, wasted, bounds    of all runs; null without a target
//   critical                     instructions on the critical path of their computation
//   scopes, scope_parents, scope_names                  the number of its scope; the tree of scopes, 0 is the root
// An instruction is a number here, and so is a computation.
"use strict";
kashi.makeModel = (data) => {
  const text = (number) => data.texts[number];
  const count = data.names.length, computations = data.computation_names.length;
  const begins = Uint32Array.from([...data.computation_begins, count]);

  const computationOf = new Uint32Array(count);
  for (let c = 0; c < computations; ++c) computationOf.fill(c, begins[c], begins[c + 1]);

  // The operands of i are operands[starts[i]] up to operands[starts[i + 1]], without it.
  const starts = new Uint32Array(count + 1), operands = new Uint32Array(data.operands.length);
  for (let i = 0; i < count; ++i) starts[i + 1] = starts[i] + data.operand_counts[i];
  for (let i = 0; i < count; ++i) {
    for (let k = starts[i]; k < starts[i + 1]; ++k) operands[k] = i - data.operands[k];
  }
  const operandsOf = (i) => Array.from(operands.subarray(starts[i], starts[i + 1]));

  // Users likewise, each once.
  const firsts = new Uint32Array(count + 1), users = new Uint32Array(operands.length);
  {
    const isRepeated = new Uint8Array(operands.length);
    const last = new Int32Array(count).fill(-1), sizes = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      for (let k = starts[i]; k < starts[i + 1]; ++k) {
        if (last[operands[k]] === i) { isRepeated[k] = 1; continue; }
        last[operands[k]] = i;
        ++sizes[operands[k]];
      }
    }
    for (let i = 0; i < count; ++i) firsts[i + 1] = firsts[i] + sizes[i];
    const at = firsts.slice();
    for (let i = 0; i < count; ++i) {
      for (let k = starts[i]; k < starts[i + 1]; ++k) if (!isRepeated[k]) users[at[operands[k]]++] = i;
    }
  }
  const usersOf = (i) => Array.from(users.subarray(firsts[i], firsts[i + 1]));

  const callsOf = (i) => data.calls[i] || [];
  const callers = Array.from({length: computations}, () => []);
  for (const [i, called] of Object.entries(data.calls)) {
    for (const c of new Set(called)) callers[c].push(Number(i));
  }
  const isCritical = new Uint8Array(count);
  for (const i of data.critical) isCritical[i] = 1;

  let byName = null;
  const find = (name) => {
    byName = byName || new Map(data.names.map((number, i) => [text(number), i]));
    const found = byName.get(name);
    return found === undefined ? -1 : found;
  };

  const name = (i) => text(data.names[i]), opcode = (i) => data.opcode_names[data.opcodes[i]];
  const kind = (i) => data.opcode_kinds[data.opcodes[i]];
  const scopePath = (scope) => {
    const parts = [];
    for (let at = scope; at > 0; at = data.scope_parents[at]) parts.unshift(text(data.scope_names[at]));
    return parts;
  };
  const seconds = (i) => data.seconds === null ? 0 : data.seconds[i];
  return {
    data, text, count, computations, begins, computationOf, starts, operands, firsts, users, operandsOf, usersOf,
    callsOf, callers, isCritical, find, name, opcode, kind, scopePath, seconds,
    shape: (i) => text(data.shapes[i]), computationName: (c) => text(data.computation_names[c]),
    isRoot: (i) => data.roots[computationOf[i]] === i, size: (c) => begins[c + 1] - begins[c],
  };
};

// Of each instruction whether some text about it has the words. All words, each anywhere.
kashi.makeSearch = (model) => {
  const {data, text} = model;
  let lowered = null;
  const inTexts = (word) => {
    lowered = lowered || data.texts.map((each) => each.toLowerCase());
    return Uint8Array.from(lowered, (each) => each.includes(word) ? 1 : 0);
  };
  return (words) => {
    const wanted = words.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let found = null;
    for (const word of wanted) {
      const hits = inTexts(word), opcodes = data.opcode_names.map((each) => each.toLowerCase().includes(word));
      const fits = (i) => hits[data.names[i]] || opcodes[data.opcodes[i]] || hits[data.shapes[i]] ||
        hits[data.op_names[i]] || hits[data.sources[i]] || hits[data.rests[i]];
      const among = found || Array.from({length: model.count}, (_, i) => i);
      found = among.filter(fits);
    }
    if (found === null) return [];
    // An exact name first, then names that begin with the words, then names that have them.
    const whole = words.trim().toLowerCase(), rank = (i) => {
      const name = text(data.names[i]).toLowerCase();
      return name === whole ? 0 : name.startsWith(whole) ? 1 : name.includes(whole) ? 2 : 3;
    };
    const ranks = new Map(found.map((i) => [i, rank(i)]));
    return found.sort((a, b) => ranks.get(a) - ranks.get(b) || a - b);
  };
};

kashi.timeText = (seconds) => {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["us", 1e-6]]) {
    if (seconds >= size) return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  }
  return seconds === 0 ? "0 s" : `${Number((seconds / 1e-9).toPrecision(3))} ns`;
};
kashi.numberText = (number) => {
  const units = ["", "k", "M", "G", "T", "P", "E"];
  let unit = 0, value = number;
  while (Math.abs(value) >= 999.5 && unit + 1 < units.length) { value /= 1000; ++unit; }
  return `${Number(value.toPrecision(3))}${units[unit]}`;
};
kashi.BOUNDS = ["nothing", "matrix unit", "vector unit", "memory"];
