#!/usr/bin/env python3
"""The page of `kashi memory --html`: what is in the file, and what headless Chromium shows of it.

    tests/memory_page_test.py --kashi build/kashi --chromium /usr/bin/chromium

Without --chromium, the tests that need it are skipped. Chromium opens each page and prints its document as it is then. A page's fragment (#step=1&search=x) puts it into a
state; where a test has to press keys or to measure, it adds a script of its own behind a copy of the page.
"""
import argparse
import html
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TIMEOUT_S = 120
OPTIONS = argparse.Namespace(kashi="", chromium="")

PADDED = """HloModule padded, is_scheduled=true

ENTRY e {
  a = f32[256,512,128,2]{2,3,1,0:T(2,128)} parameter(0)
  b = f32[256,512,128,2]{3,2,1,0:T(8,128)} copy(a), metadata={op_name="jit(f)/transpose" source_file="model.py" source_line=12}
  ROOT r = f32[256,512,128,2]{2,3,1,0:T(2,128)} copy(b)
}
"""
TWO_SPACES = """HloModule two, is_scheduled=true

ENTRY e {
  a = f32[1024]{0:T(1024)} parameter(0)
  b = f32[1024]{0:T(1024)S(1)} negate(a)
  c = f32[2048]{0:T(1024)} custom-call(b), custom_call_target="x"
  ROOT r = f32[1024]{0:T(1024)} negate(b)
}
"""
# What kashi memory says of it, text for number.
TWO_SPACES_DATA = {
    "module": "two",
    "spaces": [{"name": "S(0) HBM", "level_steps": [2, 3], "level_bytes": [8192, 0], "temporaries": [2], "number": 0, "peak": 16384, "temp": 8192, "peak_step": 2}, {"name": "S(1) VMEM", "level_steps": [1, 4], "level_bytes": [4096, 0], "temporaries": [1], "number": 1, "peak": 4096, "temp": 4096, "peak_step": 1}],
    "step_names": ["a", "b", "c", "r"],
    "step_operators": ["parameter", "negate", "custom-call", "negate"],
    "values": ["a", "b", "c", "r"],
    "operators": ["parameter", "negate", "custom-call", "negate"],
    "shapes": ["f32[1024]{0:T(1024)}", "f32[1024]{0:T(1024)S(1)}", "f32[2048]{0:T(1024)}", "f32[1024]{0:T(1024)}"],
    "kinds": ["argument", "temporary", "temporary", "output"],
    "op_names": ["", "", "", ""],
    "sources": ["", "", "", ""],
    "buffer_spaces": [0, 1, 0, 0],
    "bytes": [4096, 4096, 8192, 4096],
    "unpadded": [4096, 4096, 8192, 4096],
    "first": [0, 1, 2, 3],
    "lasts": [1, 2, 0, 0],
    "lives": [0, 1, 1, 0],
    "others": {},
}
# A computation with two callers has a time of its own.
CALLED_TWICE = """HloModule called_twice, is_scheduled=true

f {
  p = f32[1024]{0:T(1024)} parameter(0)
  inner = f32[1024]{0:T(1024)} negate(p)
  ROOT q = f32[1024]{0:T(1024)} negate(inner)
}

ENTRY e {
  a = f32[1024]{0:T(1024)} parameter(0)
  one = f32[1024]{0:T(1024)} call(a), to_apply=f
  ROOT two = f32[1024]{0:T(1024)} call(one), to_apply=f
}
"""
EVIL = """</script><script>document.title="owned"</script><!--<script><img src=x onerror='document.title="owned"'>&amp; {{data}} 日本 \u202e\u2028"""
QUOTED = EVIL.replace("\\", "\\\\").replace('"', '\\"')
EVIL_MODULE = PADDED.replace("jit(f)/transpose", QUOTED).replace("model.py", QUOTED)
LINES = 58000


def large_module():
    lines = ["HloModule large, is_scheduled=true", "", "ENTRY e {",
             "  v.0 = f32[1024,512]{1,0:T(8,128)} parameter(0)"]
    for i in range(1, LINES):
        other = max(i - 1 - i * 7919 % 40, 0)
        # One short moment needs much more than all others.
        shape = "f32[16384,512]{1,0:T(8,128)}" if i == 40000 else "f32[1024,512]{1,0:T(8,128)}"
        operands = f"v.{i - 1}, v.{other}" if i not in (40000, 40001) else f"v.{i - 1}"
        operation = f'custom-call({operands}), custom_call_target="x"' if i in range(40000, 40042) else f"add({operands})"
        lines.append(f"  {'ROOT ' if i == LINES - 1 else ''}v.{i} = {shape} {operation}")
    return "\n".join([*lines, "}", ""])


class StaticPage(html.parser.HTMLParser):
    """What there is without JavaScript: the cells of each table by its id, and the names of all elements."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.table, self.cell, self.names, self.hidden = {}, None, None, [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names.append(tag)
        if "hidden" in attributes:
            self.hidden.add(attributes.get("id"))
        if tag == "table":
            self.table = self.tables.setdefault(attributes.get("id"), [])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.table.append(self.cell)
            self.cell = None


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.pages = {}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def page(self, name, module):
        """The path of the module's page, made once."""
        if name not in self.pages:
            source, page = self.root / f"{name}.hlo", self.root / f"{name}.html"
            source.write_text(module, encoding="utf-8")
            subprocess.run([OPTIONS.kashi, "memory", "--target", "v5e", "--html", page, source], check=True,
                           timeout=TIMEOUT_S)
            self.pages[name] = page
        return self.pages[name]



class FileTest(Pages):
    def test_data(self):
        text = self.page("two", TWO_SPACES).read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        texts = data.pop("texts")
        figures = data.pop("figures")
        for key in ("step_names", "step_operators", "values", "operators", "shapes", "kinds", "op_names", "sources"):
            data[key] = [texts[number] for number in data[key]]
        self.assertEqual([texts[int(number)] for number in figures],
                         ["f32[2048]{0:T(1024)}", "f32[1024]{0:T(1024)}", "f32[1024]{0:T(1024)S(1)}"])
        self.assertTrue(all("<svg " in svg for svg in figures.values()))
        self.assertEqual(data, TWO_SPACES_DATA)

    def test_texts_of_the_module_are_escaped(self):
        text = self.page("evil", EVIL_MODULE).read_text(encoding="utf-8")
        self.assertEqual(text.count("</script>"), 2, "the page's own")
        self.assertEqual(text.count("<img"), 0)
        self.assertEqual(text.count("{{data}}"), 2, "op_name and source: what is put in is not searched again")

    def test_without_javascript_there_are_the_tables(self):
        static = StaticPage(self.page("padded", PADDED).read_text(encoding="utf-8"))
        self.assertIn("S(0) HBM", static.tables["totals"])
        self.assertIn("8.25 GiB", static.tables["totals"])
        self.assertTrue(any("another order" in cell for cell in static.tables["padding"]))
        self.assertIn("noscript", static.names)
        self.assertIn("explorer", static.hidden)

    def test_the_page_needs_nothing_else(self):
        text = self.page("padded", PADDED).read_text(encoding="utf-8")
        self.assertIn("default-src 'none'", text)
        self.assertEqual(set(re.findall(r"https?://[^\\\"' ]*", text)), {"http://www.w3.org/2000/svg"})

    def test_a_file_appears_whole_or_not_at_all(self):
        source = self.root / "bad.hlo"
        source.write_text("no module")
        for target, given in ((self.root / "bad.html", source), (self.root / "no_folder" / "x.html", self.root / "padded.hlo")):
            self.page("padded", PADDED)
            process = subprocess.run([OPTIONS.kashi, "memory", "--html", target, given], capture_output=True,
                                     timeout=TIMEOUT_S, check=False)
            self.assertEqual(process.returncode, 1)
            self.assertFalse(target.exists())


class BrowserTest(Pages):
    def setUp(self):
        if not OPTIONS.chromium:
            self.skipTest("no Chromium")

    def chromium(self, page, fragment="", *options):
        with tempfile.TemporaryDirectory() as profile:
            process = subprocess.run(
                [OPTIONS.chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--user-data-dir={profile}", "--window-size=1200,1200", *options, "--dump-dom", f"{page.as_uri()}#{fragment}"],
                capture_output=True, timeout=TIMEOUT_S, check=True)
        return process.stdout.decode("utf-8")

    def show(self, page, fragment=""):
        return Shown(self.chromium(page, fragment))

    def ask(self, page, script, *options, fragment=""):
        """What `script`, the body of a function, returns in the page. It has press(key), $(id) and state()."""
        asking = page.with_name("asking.html")
        asking.write_bytes(page.read_bytes() + ASKING.replace("SCRIPT", script).encode("utf-8"))
        answer = re.search(r'<pre id="answer">(.*?)</pre>', self.chromium(asking, fragment, *options), re.S)
        self.assertIsNotNone(answer, "the script has not come to its end")
        return json.loads(html.unescape(answer[1]))

    def test_the_peak_is_shown_first_with_its_largest_buffer(self):
        shown = self.show(self.page("padded", PADDED))
        self.assertEqual((shown.step, shown.space, shown.pinned), ("1", "0", "false"))
        self.assertIn("step 1, b (copy): 8.25 GiB in S(0) HBM, 8 GiB of it new", shown.text("moment"))
        self.assertEqual(shown.buffers, ["b", "a", "r"])
        self.assertIn("7.88 GiB (64.0x expansion)", shown.text("details"))
        self.assertIn("model.py:12", shown.text("details"))
        self.assertIn('src="data:image/svg+xml,', shown.dom)

    def test_a_fragment_chooses_moment_space_search_and_buffer(self):
        page = self.page("two", TWO_SPACES)
        shown = self.show(page, "space=1&step=3")
        self.assertEqual((shown.step, shown.space, shown.pinned, shown.buffers), ("3", "1", "true", ["b"]))
        shown = self.show(page, "step=0&space=1")
        self.assertEqual(shown.buffers, [])
        shown = self.show(page, "search=2048")
        self.assertEqual(shown.buffers, ["c"])
        self.assertIn("1 of 4 buffers", shown.text("count"))
        shown = self.show(page, "step=0&buffer=b")
        self.assertEqual((shown.step, shown.space), ("1", "1"), "to where the buffer is alive")

    def test_search_looks_at_op_names_and_sources(self):
        page = self.page("padded", PADDED)
        for words in ("TRANSPOSE", "model.py:12", "{3,2,1,0"):
            self.assertEqual(self.show(page, f"search={words}").buffers, ["b"], words)
        self.assertEqual(self.show(page, "search=nothing").buffers, [])

    def test_a_computation_of_several_callers_counts_where_it_is_called(self):
        page = self.page("called_twice", CALLED_TWICE)
        shown = self.show(page, "step=1")
        self.assertIn("inner", shown.buffers)
        shown = self.show(page, "step=2")
        self.assertNotIn("inner", shown.buffers)
        self.assertIn("in called computations", shown.text("buffers"))

    def test_keys(self):
        states = self.ask(self.page("two", TWO_SPACES), """
            const states = [];
            for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "s", "p", "Escape"]) {
              press(key);
              states.push([key, ...state()]);
            }
            return states;""")
        self.assertEqual(states, [["Home", "0", "0", "true"], ["ArrowRight", "1", "0", "true"],
                                  ["ArrowRight", "2", "0", "true"], ["ArrowLeft", "1", "0", "true"],
                                  ["End", "3", "0", "true"], ["s", "3", "1", "true"], ["p", "1", "1", "true"],
                                  ["Escape", "1", "1", "false"]])

    def test_slash_goes_to_the_search_and_escape_leaves_it(self):
        answer = self.ask(self.page("two", TWO_SPACES), """
            press("/");
            const search = $("search"), answer = [document.activeElement.id];
            answer.push(getComputedStyle(search).outlineStyle);
            search.value = "2048";
            search.dispatchEvent(new Event("input"));
            press("ArrowRight", search);
            answer.push(state()[2], names());
            press("Escape", search);
            answer.push(document.activeElement.id, search.value, names().length);
            return answer;""")
        self.assertEqual(answer, ["search", "solid", "false", ["c"], "", "", 3])

    def test_click_pins_and_hover_tells(self):
        answer = self.ask(self.page("padded", PADDED), """
            const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect();
            const at = (share) => ({clientX: box.left + box.width * share, clientY: box.top + 5, bubbles: true});
            plot.dispatchEvent(new PointerEvent("pointermove", at(0.9)));
            const answer = [$("tip").textContent, $("tip").hidden];
            plot.dispatchEvent(new MouseEvent("click", at(0.1)));
            answer.push(state());
            plot.dispatchEvent(new PointerEvent("pointermove", at(0.9)));
            answer.push(state()[0]);
            plot.dispatchEvent(new PointerEvent("pointerleave"));
            return [...answer, $("tip").hidden];""")
        self.assertEqual(answer, ["step 2, r (copy): 8.25 GiB in S(0) HBM", False, ["0", "0", "true"], "0", True])

    def test_a_chosen_buffer_stays_chosen_and_focused(self):
        answer = self.ask(self.page("two", TWO_SPACES), """
            const button = document.querySelector('#buffers button[data-buffer]');
            button.click();
            return [document.activeElement.textContent === button.textContent, $("details").querySelector("h2").textContent,
                    document.querySelector("#buffers tr.chosen button").textContent];""")
        self.assertEqual(answer[0], True)
        self.assertEqual(answer[1], answer[2])

    def test_texts_of_the_module_stay_texts(self):
        page = self.page("evil", EVIL_MODULE)
        title, shown = self.ask(page, 'return [document.title, $("details").textContent];')
        self.assertEqual(title, "padded: memory")
        self.assertIn(EVIL, shown)

    def test_bytes_that_are_no_utf8(self):
        page, broken = self.root / "broken.html", self.root / "broken.hlo"
        broken.write_bytes(PADDED.encode().replace(b"model.py", b"m\xff\xc3"))
        subprocess.run([OPTIONS.kashi, "memory", "--html", page, broken], timeout=TIMEOUT_S, check=True)
        shown = self.show(page)
        self.assertEqual(shown.buffers, ["b", "a", "r"])
        self.assertIn("m\ufffd\ufffd:12", shown.text("details"))

    def test_light_and_dark(self):
        page = self.page("padded", PADDED)
        colour = "return getComputedStyle(document.body).backgroundColor;"
        self.assertEqual(self.ask(page, colour, "--blink-settings=preferredColorScheme=1"), "rgb(255, 255, 255)")
        self.assertEqual(self.ask(page, colour, "--blink-settings=preferredColorScheme=0"), "rgb(22, 24, 27)")

    def test_a_large_module(self):
        page = self.page("large", large_module())
        self.assertLess(page.stat().st_size, 9_000_000)
        answer = self.ask(page, """
            const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
            const peak = Math.floor(40000 / 58000 * canvas.width);
            const filled = (x) => pen.getImageData(x, Math.round(canvas.height * 0.08), 1, 1).data[3] > 0;
            const drawn = [peak - 2, peak - 1, peak, peak + 1, peak + 2].some(filled), elsewhere = filled(10);
            const loaded = performance.now(), start = performance.now();
            for (let i = 0; i < 10; ++i) press("ArrowRight");
            const each = (performance.now() - start) / 10;
            $("search").value = "v.4999";
            $("search").dispatchEvent(new Event("input"));
            return {drawn, elsewhere, loaded, each, found: names().length, state: state()};""")
        print(f"58,000 steps: {page.stat().st_size:,} bytes, opened in {answer['loaded']:.0f} ms, "
              f"{answer['each']:.1f} ms a key")
        self.assertTrue(answer["drawn"], "the peak lasts a fraction of a pixel, and is there")
        self.assertFalse(answer["elsewhere"])
        self.assertEqual(answer["found"], 11)  # v.4999, v.49990 to v.49999
        # Times are for people; a machine that has other work fails only where something is badly wrong.
        self.assertLess(answer["loaded"], 10_000)
        self.assertLess(answer["each"], 1_000)


class Shown:
    """What a page shows, from its document."""

    def __init__(self, dom):
        self.dom = dom
        body = re.search(r"<body([^>]*)>", dom)[1]
        self.step, self.space, self.pinned = (re.search(rf'data-{key}="([^"]*)"', body)[1]
                                              for key in ("step", "space", "pinned"))
        self.buffers = [html.unescape(name) for name in re.findall(r'<button[^>]*data-buffer="\d+"[^>]*>(.*?)</button>', dom)]

    def text(self, element):
        """All text in the element of this id: up to the end of the first element of its kind behind it."""
        match = re.search(rf'<(\w+)[^>]*\bid="{element}".*?</\1>', self.dom, re.S)
        return html.unescape(re.sub(r"<[^>]*>", " ", match[0]))


ASKING = """<script>
(() => {
  const $ = (id) => document.getElementById(id);
  const press = (key, target) =>
    (target || document.body).dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  const state = () => [document.body.dataset.step, document.body.dataset.space, document.body.dataset.pinned];
  const names = () => Array.from(document.querySelectorAll("#buffers button"), (each) => each.textContent);
  const answer = (() => { SCRIPT })();
  const pre = document.createElement("pre");
  pre.id = "answer";
  pre.textContent = JSON.stringify(answer);
  document.body.append(pre);
})();
</script>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--chromium", default="")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
