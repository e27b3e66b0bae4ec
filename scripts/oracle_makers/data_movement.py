"""Makers of operations that move elements: slices, pads, gathers and their like."""
import numpy as np

from oracle_makers.program import ANY, INTEGERS, NUMBERS, dtype_of, maker


@maker("iota")
def iota(p, op):
    sizes = p.sizes(1, 3)
    p.emit(p.pick(NUMBERS), sizes, f"iota(), iota_dimension={p.below(len(sizes))}")


@maker("broadcast")
def broadcast(p, op):
    x = p.operand(ANY, 0, 2)
    rank = len(x.sizes) + p.below(3)
    places = sorted(p.random.sample(range(rank), len(x.sizes)))
    sizes = [p.random.randint(1, 4) for _ in range(rank)]
    for place, size in zip(places, x.sizes):
        sizes[place] = size
    p.emit(x.kind, sizes, f"broadcast({x.name}), dimensions={{{','.join(map(str, places))}}}")


@maker("reshape")
def reshape(p, op):
    x = p.operand(ANY)
    sizes = x.sizes[:]
    if len(sizes) > 1 and p.chance(0.5):
        i = p.below(len(sizes) - 1)
        sizes[i:i + 2] = [sizes[i] * sizes[i + 1]]
    else:
        sizes.insert(p.below(len(sizes) + 1), 1)
    p.emit(x.kind, sizes, f"reshape({x.name})")


@maker("transpose")
def transpose(p, op):
    x = p.operand(ANY, 1, 4)
    order = list(range(len(x.sizes)))
    p.random.shuffle(order)
    p.emit(x.kind, [x.sizes[i] for i in order], f"transpose({x.name}), dimensions={{{','.join(map(str, order))}}}")


@maker("reverse")
def reverse(p, op):
    x = p.operand(ANY, 1)
    which = p.random.sample(range(len(x.sizes)), p.random.randint(1, len(x.sizes)))
    p.emit(x.kind, x.sizes, f"reverse({x.name}), dimensions={{{','.join(map(str, which))}}}")


@maker("slice")
def slice_(p, op):
    x = p.operand(ANY, 1)
    ranges, sizes = [], []
    for n in x.sizes:
        start = p.below(n + 1)
        limit, stride = p.random.randint(start, n), p.random.randint(1, 3)
        ranges.append(f"[{start}:{limit}:{stride}]")
        sizes.append((limit - start + stride - 1) // stride)
    p.emit(x.kind, sizes, f"slice({x.name}), slice={{{', '.join(ranges)}}}")


def starts(p, rank):
    kind = p.pick(["s32", "u32", "s64"])
    array = lambda: np.asarray(p.random.randint(-3 if kind[0] == "s" else 0, 7), dtype_of(kind))
    return [p.parameter(kind, [], array=array()) for _ in range(rank)]


@maker("dynamic-slice")
def dynamic_slice(p, op):
    x = p.operand(ANY, 1, zero=0)
    sizes = [p.random.randint(1, n) for n in x.sizes]
    names = ", ".join(v.name for v in [x] + starts(p, len(sizes)))
    p.emit(x.kind, sizes, f"dynamic-slice({names}), dynamic_slice_sizes={{{','.join(map(str, sizes))}}}")


@maker("dynamic-update-slice")
def dynamic_update_slice(p, op):
    x = p.operand(ANY, 1, zero=0)
    u = p.parameter(x.kind, [p.random.randint(1, n) for n in x.sizes])
    p.emit(x.kind, x.sizes, f"dynamic-update-slice({', '.join(v.name for v in [x, u] + starts(p, len(x.sizes)))})")


@maker("concatenate")
def concatenate(p, op):
    x = p.operand(ANY, 1)
    d, parts = p.below(len(x.sizes)), [x]
    for _ in range(p.below(3)):
        parts.append(p.parameter(x.kind, x.sizes[:d] + [p.below(4)] + x.sizes[d + 1:]))
    sizes = x.sizes[:d] + [sum(v.sizes[d] for v in parts)] + x.sizes[d + 1:]
    p.emit(x.kind, sizes, f"concatenate({', '.join(v.name for v in parts)}), dimensions={{{d}}}")


@maker("pad")
def pad(p, op):
    x = p.operand(ANY, 1)
    while True:
        padding = [(p.random.randint(-2, 3), p.random.randint(-2, 3), p.pick([0, 0, 1, 2])) for _ in x.sizes]
        sizes = [n + lo + hi + max(n - 1, 0) * inner for n, (lo, hi, inner) in zip(x.sizes, padding)]
        if min(sizes) >= 0:
            break
    v = p.parameter(x.kind, [])
    p.emit(x.kind, sizes, f"pad({x.name}, {v.name}), padding={'x'.join('_'.join(map(str, t)) for t in padding)}")


@maker("gather")
def gather(p, op):
    x = p.operand(ANY, 1, 3, zero=0)
    rank = len(x.sizes)
    mapped = p.random.sample(range(rank), p.random.randint(1, rank))
    slices = [p.random.randint(1, n) for n in x.sizes]
    collapsed = [d for d in range(rank) if p.chance(0.4)]
    for d in collapsed:
        slices[d] = 1
    batch = p.sizes(0, 2, 4)
    vector_dim = p.random.randint(0, len(batch))
    index_sizes = batch[:vector_dim] + [len(mapped)] + batch[vector_dim:]
    kind = p.pick(["s32", "u32", "s64"])
    indices = p.parameter(kind, index_sizes, array=p.numbers.integers(-2 if kind[0] == "s" else 0, 7, index_sizes))
    window = [d for d in range(rank) if d not in collapsed]
    out_rank = len(batch) + len(window)
    offsets = sorted(p.random.sample(range(out_rank), len(window)))
    sizes, b, w = [], iter(batch), iter(window)
    for d in range(out_rank):
        sizes.append(slices[next(w)] if d in offsets else next(b))
    join = lambda items: "{" + ",".join(map(str, items)) + "}"
    p.emit(
        x.kind, sizes,
        f"gather({x.name}, {indices.name}), offset_dims={join(offsets)}, collapsed_slice_dims={join(collapsed)}, "
        f"start_index_map={join(mapped)}, index_vector_dim={vector_dim}, slice_sizes={join(slices)}")


@maker("scatter")
def scatter(p, op):
    x = p.operand(INTEGERS + ["f32"], 1, 3, zero=0, values="whole")
    rank = len(x.sizes)
    mapped = p.random.sample(range(rank), p.random.randint(1, rank))
    inserted = [d for d in range(rank) if p.chance(0.5)]
    window = [d for d in range(rank) if d not in inserted]
    batch = p.sizes(0, 2, 4)
    vector_dim = p.random.randint(0, len(batch))
    index_sizes = batch[:vector_dim] + [len(mapped)] + batch[vector_dim:]
    indices = p.parameter("s32", index_sizes, array=p.numbers.integers(-2, 7, index_sizes))
    out_rank = len(batch) + len(window)
    places = sorted(p.random.sample(range(out_rank), len(window)))
    sizes, b, w = [], iter(batch), iter(window)
    for d in range(out_rank):
        sizes.append(p.random.randint(1, x.sizes[next(w)]) if d in places else next(b))
    updates = p.parameter(x.kind, sizes, "whole")
    f = p.scalar_function(p.pick(["add", "multiply", "maximum", "minimum"]), x.kind)
    join = lambda items: "{" + ",".join(map(str, items)) + "}"
    p.emit(
        x.kind, x.sizes,
        f"scatter({x.name}, {indices.name}, {updates.name}), update_window_dims={join(places)}, "
        f"inserted_window_dims={join(inserted)}, scatter_dims_to_operand_dims={join(mapped)}, index_vector_dim={vector_dim}, to_apply={f}")
