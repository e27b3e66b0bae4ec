"""Loops that read and write elements of an array, written in JAX as people write recurrences, for bench/loops.py.

    bench/loop_programs.py         writes the HLO text of each into bench/loops/. Needs jax

Each loop takes STEPS steps on arrays of SIZE elements. bench/loops.py puts another size in the place of SIZE, so no other
number of a program may have these digits, or those of SIZE - 1.
"""
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import lax

SIZE = 50000
STEPS = 20000
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loops")
PROGRAMS = {}


def program(*arguments):
    """Registers a function under its name."""
    def register(function):
        PROGRAMS[function.__name__] = (function, arguments)
        return function
    return register


def floats(*sizes):
    return jax.ShapeDtypeStruct(sizes or (SIZE,), jnp.float32)


def integers(*sizes):
    return jax.ShapeDtypeStruct(sizes or (SIZE,), jnp.int32)


def loop(body, state, steps=STEPS, first=1):
    return lax.fori_loop(first, first + steps, body, state)


# ---- One element a step, by each kind of loop and of update.

@program(floats())
def fori_set(x):
    return loop(lambda i, x: x.at[i].set(x[i - 1] * 0.5 + 1), x)


@program(floats())
def scan_set(x):
    return lax.scan(lambda x, i: (x.at[i].set(x[i - 1] * 0.5 + 1), None), x, jnp.arange(1, STEPS))[0]


@program(floats())
def scan_set_and_collect(x):
    def step(x, i):
        return x.at[i].set(x[i - 1] * 0.5 + 1), x[i]
    return lax.scan(step, x, jnp.arange(1, STEPS))


@program(floats())
def while_set(x):
    def step(state):
        i, x = state
        return i + 1, x.at[i].set(x[i - 1] * 0.5 + 1)
    return lax.while_loop(lambda state: state[0] < STEPS, step, (1, x))


@program(floats())
def while_on_what_is_written(x):
    """The condition reads the array too."""
    def step(state):
        i, x = state
        return i + 1, x.at[i].set(jnp.abs(x[i - 1]) * 0.5 + 1)
    return lax.while_loop(lambda state: (state[0] < STEPS) & (state[1][state[0] - 1] < 1e9), step, (1, x))


@program(floats())
def dynamic_update_slice(x):
    def step(i, x):
        before = lax.dynamic_slice(x, (i - 1,), (1,))
        return lax.dynamic_update_slice(x, before * 0.5 + 1, (i,))
    return loop(step, x)


@program(floats())
def add(x):
    return loop(lambda i, x: x.at[i].add(x[i - 1] * 0.5), x)


@program(floats())
def maximum(x):
    return loop(lambda i, x: x.at[i].max(x[i - 1] - 0.01), x)


@program(floats())
def prefix_sum(x):
    return loop(lambda i, x: x.at[i].set(x[i] + x[i - 1]), x)


@program(floats())
def reverse_order(x):
    def step(k, x):
        i = STEPS - k
        return x.at[i].set(x[i + 1] * 0.5 + x[i])
    return loop(step, x)


@program(floats())
def drop_and_fill(x):
    def step(i, x):
        return x.at[i * 3].set(x.at[i * 3 - 1].get(mode="fill", fill_value=0.0) * 0.5, mode="drop")
    return loop(step, x)


@program(floats())
def carry_of_three(x):
    def step(state):
        x, i, total = state
        return x.at[i].set(total), i + 1, total * 0.5 + x[i]
    return lax.while_loop(lambda state: state[1] < STEPS, step, (x, 0, 0.0))


@program(jax.ShapeDtypeStruct((SIZE,), jnp.uint32))
def lagged_fibonacci(x):
    return loop(lambda i, x: x.at[i].set(x[i - 24] + x[i - 55]), x, first=55)


# ---- Choices.

@program(floats())
def where_of_elements(x):
    return loop(lambda i, x: x.at[i].set(jnp.where(i % 3 == 0, x[i - 1], x[i])), x)


@program(floats())
def where_of_arrays(x):
    return loop(lambda i, x: jnp.where(i % 3 == 0, x, x.at[i].set(x[i - 1] * 0.5)), x)


@program(floats())
def cond(x):
    return loop(lambda i, x: lax.cond(i % 3 == 0, lambda x: x.at[i].set(x[i - 1]), lambda x: x, x), x)


@program(floats())
def cond_on_what_is_read(x):
    return loop(lambda i, x: lax.cond(x[i] < x[i - 1], lambda x: x.at[i].set(x[i - 1]), lambda x: x, x), x)


@program(floats())
def switch(x):
    branches = [lambda i, x: x, lambda i, x: x.at[i].set(x[i - 1]), lambda i, x: x.at[i].add(1.0).at[i - 1].add(-1.0)]
    return loop(lambda i, x: lax.switch(i % 3, branches, i, x), x)


# ---- Several elements, several arrays.

@program(floats(), integers())
def swap(x, indices):
    def step(i, x):
        j = indices[i]
        return x.at[i].set(x[j]).at[j].set(x[i])
    return loop(step, x)


@program(floats(), integers())
def swap_by_index_array(x, indices):
    def step(i, x):
        j = indices[i]
        return x.at[jnp.array([i, j])].set(x[jnp.array([j, i])])
    return loop(step, x)


@program(floats(), floats())
def crosswise(x, y):
    def step(i, state):
        x, y = state
        return x.at[i].set(y[i - 1] * 0.5), y.at[i].set(x[i - 1] + 1)
    return loop(step, (x, y))


@program(floats())
def begins_with_one_array_twice(x):
    def step(i, state):
        x, y = state
        return x.at[i].set(y[i - 1] * 0.5), y.at[i].set(x[i - 1] + 1)
    return loop(step, (x, x))


@program(floats(SIZE, 8))
def rows(x):
    return loop(lambda i, x: x.at[i].set(x[i - 1] * 0.5 + 1), x)


@program(floats(8, SIZE))
def columns(x):
    return loop(lambda i, x: x.at[:, i].set(x[:, i - 1] * 0.5 + 1), x)


@program(floats(8, SIZE))
def vmap(x):
    return jax.vmap(fori_set)(x)


@program(floats())
def fancy_indices(x):
    def step(i, x):
        at = i * 2 + jnp.array([0, 7, 3, 11])
        return x.at[at].set(x[at + 1] * 0.5)
    return loop(step, x)


@program(floats(), integers(), integers())
def gather_then_scatter(x, sources, targets):
    return loop(lambda i, x: x.at[targets[i]].set(x[sources[i]] * 0.5 + 1), x)


@program(floats())
def slice_of_100(x):
    def step(i, x):
        part = lax.dynamic_slice(x, (i - 1,), (100,))
        return lax.dynamic_update_slice(x, part * 0.5 + 1, (i,))
    return loop(step, x)


@program(integers(), integers())
def histogram(counts, keys):
    return loop(lambda i, counts: counts.at[keys[i]].add(1), counts)


@program(floats(SIZE, 10))
def table_of_two_indices(x):
    def step(k, x):
        i, j = k // 9 + 1, k % 9 + 1
        return x.at[i, j].set(jnp.maximum(x[i - 1, j], x[i, j - 1]) + 1)
    return loop(step, x)


# ---- Loops within loops, and algorithms.

@program(floats())
def nested(x):
    def outer(i, x):
        return loop(lambda j, x: x.at[i + j].set(x[i + j - 1] * 0.5 + x[i]), x, 10)
    return loop(outer, x, STEPS // 10)


@program()
def sieve():
    def cross_out(i, is_prime):
        def step(state):
            j, is_prime = state
            return j + i, is_prime.at[j].set(False)
        return lax.cond(is_prime[i], lambda p: lax.while_loop(lambda state: state[0] < STEPS, step, (i * i, p))[1],
                        lambda p: p, is_prime)
    return lax.fori_loop(2, 142, cross_out, jnp.ones(SIZE, bool))


@program(floats(), integers())
def knapsack(best, weights):
    def item(k, best):
        weight = weights[k] % 50 + 1
        def step(w, best):
            at = 200 - w
            better = jnp.maximum(best[at], best[at - weight] + 1.5)
            return best.at[at].set(jnp.where(at >= weight, better, best[at]))
        return lax.fori_loop(0, 200, step, best)
    return lax.fori_loop(0, STEPS // 200, item, best)


@program(floats())
def bubble_sort(x):
    def step(i, x):
        a, b = x[i - 1], x[i]
        return x.at[i - 1].set(jnp.minimum(a, b)).at[i].set(jnp.maximum(a, b))
    return loop(step, x)


@program(floats())
def bubble_sort_by_cond(x):
    def step(i, x):
        a, b = x[i - 1], x[i]
        return lax.cond(a > b, lambda x: x.at[i - 1].set(b).at[i].set(a), lambda x: x, x)
    return loop(step, x)


@program(floats())
def insertion_sort(x):
    def insert(i, x):
        value = x[i]
        def step(state):
            j, x = state
            return j - 1, x.at[j].set(x[j - 1])
        j, x = lax.while_loop(lambda state: (state[0] > 0) & (state[1][state[0] - 1] > value), step, (i, x))
        return x.at[j].set(value)
    return loop(insert, x, 280)


@program(integers(), integers())
def union_find(a, b):
    def find(parent, k):
        def halve(state):
            parent, k = state
            grandparent = parent[parent[k]]
            return parent.at[k].set(grandparent), grandparent
        return lax.while_loop(lambda state: state[0][state[1]] != state[1], halve, (parent, k))
    def unite(i, parent):
        parent, p = find(parent, a[i])
        parent, q = find(parent, b[i])
        return parent.at[p].set(q)
    return loop(unite, jnp.arange(SIZE))


@program(integers())
def fisher_yates(x):
    def step(k, state):
        x, seed = state
        i = STEPS - k
        seed = seed * jnp.uint32(1664525) + jnp.uint32(1013904223)
        j = ((seed >> 8) % (i + 1).astype(jnp.uint32)).astype(jnp.int32)
        a, b = x[i], x[j]
        return x.at[i].set(b).at[j].set(a), seed
    return loop(step, (x, jnp.uint32(1)))[0]


@program(integers())
def breadth_first(neighbours):
    """A queue, and marks of what was seen."""
    def step(state):
        queue, seen, head, tail = state
        at = queue[head]
        for to in (neighbours[at], (at * 2 + 1) % 40000):
            is_new = ~seen[to]
            queue = queue.at[jnp.where(is_new, tail, 40001)].set(to)
            seen = seen.at[to].set(True)
            tail = tail + is_new
        return queue, seen, head + 1, tail
    queue, seen = jnp.zeros(SIZE, jnp.int32), jnp.zeros(SIZE, bool).at[0].set(True)
    return lax.while_loop(lambda state: (state[2] < state[3]) & (state[2] < STEPS), step, (queue, seen, 0, 1))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, (function, arguments) in PROGRAMS.items():
        text = jax.jit(function, keep_unused=True).lower(*arguments).compiler_ir("hlo").as_hlo_text()
        with open(f"{FOLDER}/{name}.hlo", "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
