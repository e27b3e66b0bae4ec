// A drawing of a directed graph in layers (Sugiyama, Tagawa and Toda 1981), for the graph of a page.
//
//   const {x, y, width, height, routes} = kashi.layoutGraph(nodes, edges);
//
// nodes: [{w, h}], in an order in which most edges lead from a node to a later one. edges: [[from, to], …], each pair
// once. x and y are the upper left corners. A route is the list of points x0, y0, x1, y1, … through which an edge goes,
// from the lower side of a node to the upper side of another; null for an edge that leads back.
//
// Cost: O((nodes + edges) log nodes) for each of a fixed number of passes. It uses no recursion.
"use strict";
kashi.layoutGraph = (() => {
  const GAP_X = 18, GAP_Y = 34;      // between nodes
  const BEND = 3, BEND_GAP = 3;      // the room of a long edge in a layer that it passes
  const MAX_SPAN = 24;               // an edge over more layers goes straight
  const SWEEPS = 6;

  // Longest paths. What only waits for its users, as a parameter or a constant does, stands just before the first.
  function layersOf(count, out, into) {
    const layer = new Int32Array(count), floats = new Uint8Array(count);
    for (let i = 0; i < count; ++i) {
      for (const from of into[i]) layer[i] = Math.max(layer[i], layer[from] + 1);
      floats[i] = into[i].every((from) => floats[from] && out[from].length === 1) ? 1 : 0;
    }
    for (let i = count - 1; i >= 0; --i) {
      if (!floats[i] || out[i].length === 0) continue;
      let least = Infinity;
      for (const to of out[i]) least = Math.min(least, layer[to]);
      layer[i] = least - 1;
    }
    return layer;
  }

  // Nodes of a layer have no edges between them: a layer that is too wide becomes several. Returns the lists of nodes.
  function rowsOf(layer, count) {
    const byLayer = new Map();
    for (let i = 0; i < count; ++i) {
      if (!byLayer.has(layer[i])) byLayer.set(layer[i], []);
      byLayer.get(layer[i]).push(i);
    }
    const most = Math.max(10, Math.ceil(Math.sqrt(count) * 1.6)), rows = [];
    for (const number of [...byLayer.keys()].sort((a, b) => a - b)) {
      const all = byLayer.get(number), parts = Math.ceil(all.length / most), size = Math.ceil(all.length / parts);
      for (let at = 0; at < all.length; at += size) rows.push(all.slice(at, at + size));
    }
    return rows;
  }

  // Positions that keep the order and the distances, as near to the wished ones as possible (least squares): pool
  // adjacent violators.
  function place(row, wish, width, gap, left) {
    const blocks = [];
    let offset = 0;
    const offsets = row.map((i) => { const at = offset; offset += width[i] + gap[i]; return at; });
    row.forEach((i, k) => {
      let block = {sum: wish[i] - width[i] / 2 - offsets[k], size: 1, from: k};
      while (blocks.length > 0) {
        const before = blocks[blocks.length - 1];
        if (before.sum / before.size <= block.sum / block.size) break;
        blocks.pop();
        block = {sum: before.sum + block.sum, size: before.size + block.size, from: before.from};
      }
      blocks.push(block);
    });
    blocks.forEach((block, b) => {
      const end = b + 1 < blocks.length ? blocks[b + 1].from : row.length;
      for (let k = block.from; k < end; ++k) left[row[k]] = block.sum / block.size + offsets[k];
    });
  }

  return (nodes, edges) => {
    const count = nodes.length, into = Array.from({length: count}, () => []), out = into.map(() => []);
    for (const [from, to] of edges) if (from < to) { out[from].push(to); into[to].push(from); }
    const rows = rowsOf(layersOf(count, out, into), count), rowOf = [];
    rows.forEach((row, r) => row.forEach((i) => { rowOf[i] = r; }));

    // Long edges bend in each layer that they pass, so that they go around nodes.
    const width = nodes.map((node) => node.w), height = nodes.map((node) => node.h), gap = nodes.map(() => GAP_X);
    const up = into.map(() => []), down = into.map(() => []), chains = edges.map(() => []);
    let bends = 0;
    edges.forEach(([from, to], e) => {
      if (from >= to) return;
      const span = rowOf[to] - rowOf[from];
      let before = from;
      if (span <= MAX_SPAN && bends < 6 * count) {
        for (let r = rowOf[from] + 1; r < rowOf[to]; ++r, ++bends) {
          const bend = width.length;
          width.push(BEND);
          height.push(0);
          gap.push(BEND_GAP);
          rowOf[bend] = r;
          rows[r].push(bend);
          chains[e].push(bend);
          up.push([before]);
          down.push([]);
          down[before].push(bend);
          before = bend;
        }
      }
      down[before].push(to);
      up[to].push(before);
    });

    // The order in a layer: by the mean place of the neighbours above, then of those below, and so on.
    const at = new Float64Array(width.length), key = new Float64Array(width.length);
    const number = (row) => row.forEach((i, k) => { at[i] = (k + 0.5) / row.length; });
    rows.forEach(number);
    const mean = (list, otherwise) => {
      if (list.length === 0) return otherwise;
      let sum = 0;
      for (const i of list) sum += at[i];
      return sum / list.length;
    };
    for (let sweep = 0; sweep < SWEEPS; ++sweep) {
      const [near, order] = sweep % 2 === 0 ? [up, rows] : [down, rows.slice().reverse()];
      for (const row of order) {
        for (const i of row) key[i] = mean(near[i], at[i]);
        row.sort((a, b) => key[a] - key[b] || a - b);
        number(row);
      }
    }

    const left = new Float64Array(width.length), wish = new Float64Array(width.length);
    for (const row of rows) {
      let sum = 0;
      for (const i of row) sum += width[i] + gap[i];
      let x = -sum / 2;
      for (const i of row) { left[i] = x; x += width[i] + gap[i]; }
    }
    const center = (i) => left[i] + width[i] / 2;
    for (let sweep = 0; sweep < SWEEPS; ++sweep) {
      const [near, order] = sweep % 2 === 0 ? [up, rows] : [down, rows.slice().reverse()];
      for (const row of order) {
        for (const i of row) {
          const list = near[i].length > 0 ? near[i] : (near === up ? down : up)[i];
          let sum = 0;
          for (const each of list) sum += center(each);
          wish[i] = list.length > 0 ? sum / list.length : center(i);
        }
        place(row, wish, width, gap, left);
      }
    }

    let least = Infinity, most = -Infinity;
    for (let i = 0; i < width.length; ++i) {
      least = Math.min(least, left[i]);
      most = Math.max(most, left[i] + width[i]);
    }
    const x = new Float64Array(count), y = new Float64Array(width.length);
    let top = 0;
    const spans = rows.map((row) => {
      let tallest = 0;
      for (const i of row) tallest = Math.max(tallest, height[i]);
      for (const i of row) y[i] = top;
      top += tallest + GAP_Y;
      return [top - tallest - GAP_Y, top - GAP_Y];
    });
    for (let i = 0; i < count; ++i) x[i] = left[i] - least;
    const routes = edges.map(([from, to], e) => {
      if (from >= to) return null;
      const points = [x[from] + width[from] / 2, y[from] + height[from]];
      const [, low] = spans[rowOf[from]];
      if (low > y[from] + height[from]) points.push(x[from] + width[from] / 2, low);
      for (const bend of chains[e]) {  // beside the boxes of its layer, however tall they are
        const [above, below] = spans[rowOf[bend]];
        points.push(center(bend) - least, above, center(bend) - least, below);
      }
      points.push(x[to] + width[to] / 2, y[to]);
      return points;
    });
    return {x, y, width: count > 0 ? most - least : 0, height: Math.max(top - GAP_Y, 0), routes};
  };
})();
