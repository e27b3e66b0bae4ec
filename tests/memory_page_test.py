#!/usr/bin/env python3
"""The page of `kashi memory --html`: the contents of the file, and the page in headless Chromium.

    tests/memory_page_test.py --kashi build/kashi [--chromium /usr/bin/chromium]

Without Chromium the tests that need it are skipped, and the last line has their number. One Chromium runs for all
tests (browser.py): a test opens a page, moves the mouse, presses real keys, and asks the page what it shows.
"""
import argparse
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from browser import TIMEOUT_S, BrowserCase, Tab, find_chromium
from memory_page_cases import (CALLED_TWICE, EVIL, EVIL_MODULE, HANDED_THROUGH, PADDED, SIZES,
                                SIZES_MODULE, TWO_SPACES, TWO_SPACES_DATA, large_module)

OPTIONS = argparse.Namespace(kashi="", chromium="")


class StaticPage(html.parser.HTMLParser):
    """The page without JavaScript: the cells of each table by its id, and the names of all elements."""

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
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Chromium may still write its last
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

    def json(self, name, module):
        """The output of the command with --json."""
        self.page(name, module)
        process = subprocess.run([OPTIONS.kashi, "memory", "--target", "v5e", "--json", self.root / f"{name}.hlo"],
                                 capture_output=True, check=True, timeout=TIMEOUT_S)
        return json.loads(process.stdout)


class FileTest(Pages):
    def test_data(self):
        text = self.page("two", TWO_SPACES).read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        texts = data.pop("texts")
        figures = data.pop("figures")
        for key in (
            "step_names", "step_operators", "step_op_names", "values", "operators", "shapes", "kinds", "op_names",
            "sources"):
            data[key] = [texts[number] for number in data[key]]
        self.assertEqual([texts[int(number)] for number in figures],
                         ["f32[2048]{0:T(1024)}", "f32[1024]{0:T(1024)}", "f32[1024]{0:T(1024)S(1)}"])
        for light, dark in figures.values():
            self.assertIn("<svg ", light)
            self.assertIn("<svg ", dark)
            self.assertFalse(set(re.findall("#[0-9a-f]{6}", light)) & set(re.findall("#[0-9a-f]{6}", dark)))
        self.assertEqual(data, TWO_SPACES_DATA)

    def test_texts_of_the_module_are_escaped(self):
        text = self.page("evil", EVIL_MODULE).read_text(encoding="utf-8")
        self.assertEqual(text.count("</script>"), 2, "the page's own")
        self.assertEqual(text.count("<img"), 1, "the page's own")
        self.assertEqual(text.count("{{data}}"), 2, "what is put in is not searched again")

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

    def test_the_index_of_a_directory(self):
        folder = self.root / "a <dump> & more"
        folder.mkdir(exist_ok=True)
        names = ("module_0001.jit_f.cpu_after_optimizations", "module_0002.jit_100%#1.before_optimizations")
        for name in names:
            (folder / f"{name}.txt").write_text(TWO_SPACES, encoding="utf-8")
        index = self.root / "index.html"
        subprocess.run([OPTIONS.kashi, "memory", "--html", index, folder], check=True, timeout=TIMEOUT_S)
        text = index.read_text(encoding="utf-8")
        static = StaticPage(text)
        self.assertEqual(static.tables["modules"][:9], ["module", "stage", "peak", "arguments", "outputs", "aliased",
                                                        "constants", "temporaries", "basis"])
        rows = [static.tables["modules"][i : i + 9] for i in (9, 18)]
        self.assertEqual([row[:2] for row in rows], [["module_0001.jit_f", "cpu_after_optimizations"],
                                                     ["module_0002.jit_100%#1", "before_optimizations"]])
        overview = subprocess.run([OPTIONS.kashi, "memory", folder], capture_output=True, check=True, timeout=TIMEOUT_S)
        for row, line in zip(rows, overview.stdout.decode().splitlines()[1:]):
            self.assertIn(row[2], line, "the peak that the command prints")
        self.assertIn("<bdi>" + html.escape(str(folder)) + "</bdi>", text)
        self.assertIn("2 modules", text)
        self.assertNotIn("<script", static.names)
        # each line leads to the page of its module, beside the index
        links = re.findall(r'<a href="([^"]*)"', text)
        self.assertEqual([urllib.parse.unquote(html.unescape(link)) for link in links],
                         [f"index-{name}.html" for name in names])
        for name in names:
            page = (self.root / f"index-{name}.html").read_text(encoding="utf-8")
            self.assertIn(html.escape(f"{name}.txt"), page)
            self.assertIn('id="data"', page)

    def test_a_file_appears_whole_or_not_at_all(self):
        source = self.root / "bad.hlo"
        source.write_text("no module")
        self.page("padded", PADDED)
        for target, given in ((self.root / "bad.html", source),
                              (self.root / "no_folder" / "x.html", self.root / "padded.hlo")):
            process = subprocess.run([OPTIONS.kashi, "memory", "--html", target, given], capture_output=True,
                                     timeout=TIMEOUT_S, check=False)
            self.assertEqual(process.returncode, 1)
            self.assertFalse(target.exists())


NAMES = "Array.from(document.querySelectorAll('#buffers td button'), (each) => each.textContent)"


class MemoryTab(Tab):
    """A tab with the page of `kashi memory`."""

    @property
    def state(self):
        return self.ask("const {step, space, pinned} = document.body.dataset; return [step, space, pinned];")

    @property
    def buffers(self):
        return self.ask(f"return {NAMES};")


class BrowserTest(BrowserCase, Pages):
    tab_type = MemoryTab

    def test_the_peak_is_shown_first_with_its_largest_buffer(self):
        tab = self.show(self.page("padded", PADDED))
        self.assertEqual(tab.state, ["1", "0", "false"])
        self.assertEqual(tab.text("moment"),
                         "At step 1, b (copy): 8.25 GiB in S(0) HBM, 8 GiB of it new\njit(f)/transpose")
        self.assertEqual(tab.buffers, ["b", "a", "r"])
        self.assertIn("7.88 GiB (64.0x expansion)", tab.text("details"))
        self.assertIn("model.py:12", tab.text("details"))
        self.assertTrue(tab.ask("const image = $('details').querySelector('img'); await image.decode();"
                                "return image.naturalWidth > 100;"), "the drawing of its layout")

    def test_a_fragment_chooses_moment_space_search_and_buffer(self):
        page = self.page("two", TWO_SPACES)
        tab = self.show(page, "space=1&step=3")
        self.assertEqual((tab.state, tab.buffers), (["3", "1", "true"], ["b"]))
        tab = self.show(page, "step=0&space=1")
        self.assertEqual(tab.buffers, [])
        tab = self.show(page, "search=2048")
        self.assertEqual(tab.buffers, ["c"])
        self.assertIn("1 buffer (8 KiB) of 4, of any space and time; at this moment in S(0) HBM: 1 buffer",
                      tab.text("count"))
        tab = self.show(page, "step=0&buffer=b")
        self.assertEqual(tab.state[:2], ["1", "1"], "to where the buffer is alive")
        tab = self.show(page, "step=99999999999999999999&space=x&buffer=none&search=%E0%A4%A")
        self.assertEqual(tab.state, ["3", "0", "true"])

    def test_what_is_shown_becomes_the_address(self):
        tab = self.show(self.page("two", TWO_SPACES), "space=1")
        tab.point(*tab.place("#buffers td button"), click=True)
        tab.press("ArrowRight")
        address = tab.ask("while (!location.hash.includes('step=2')) await new Promise(requestAnimationFrame);"
                          "return location.href;")
        again = self.show(self.page("two", TWO_SPACES), address.split("#")[1])
        self.assertEqual((again.state, again.text("details")), (tab.state, tab.text("details")))

    def test_search_looks_at_op_names_and_sources(self):
        tab = self.show(self.page("padded", PADDED))
        tab.press("/")
        for words in ("TRANSPOSE", "model.py:12", "{3,2,1,0"):
            tab.call("Input.insertText", text=words)
            self.assertEqual(tab.buffers, ["b"], words)
            tab.ask("$('search').select();")
        tab.call("Input.insertText", text="nothing")
        self.assertEqual(tab.buffers, [])

    def test_a_computation_of_several_callers_counts_where_it_is_called(self):
        page = self.page("called_twice", CALLED_TWICE)
        tab = self.show(page, "step=1")
        self.assertIn("inner", tab.buffers)
        tab = self.show(page, "step=2")
        self.assertNotIn("inner", tab.buffers)
        self.assertIn("in called computations", tab.text("buffers"))

    def test_results_that_the_caller_gets_twice(self):
        tab = self.show(self.page("twice", HANDED_THROUGH))
        self.assertIn("8 KiB\tin copies: of arguments that are results", tab.text("buffers"))
        self.assertIn("12.5 KiB in S(0)", tab.text("moment"))

    def test_what_is_alive_adds_up_to_the_commands_numbers(self):
        for name, module in (("two", TWO_SPACES), ("padded", PADDED), ("called_twice", CALLED_TWICE)):
            known, tab = self.json(name, module), self.show(self.page(name, module))
            for space in known["spaces"]:
                numbers = tab.ask(f"return {NAMES.replace('textContent', 'dataset.buffer')};")
                shown = [known["buffers"][int(number)] for number in numbers]
                self.assertEqual(tab.state[:2], [str(space["peak_step"]), str(space["memory_space"])])
                self.assertEqual(sum(each["bytes"] for each in shown), space["peak_bytes"])
                self.assertEqual(sum(each["bytes"] - each["unpadded_bytes"] for each in shown), space["padding_bytes"])
                tab.press("s", "p")

    def test_numbers_of_bytes_are_written_as_the_command_writes_them(self):
        tab = self.show(self.page("sizes", SIZES_MODULE))
        cells, scales = tab.ask("""return [
            Array.from(document.querySelectorAll("#totals td:nth-child(2)"), (each) => each.textContent),
            Array.from(document.querySelectorAll(".scale .peak"), (each) => each.textContent)];""")
        self.assertEqual(len(cells), len(SIZES))
        self.assertEqual(scales, [cell for cell in cells if not self.is_little(cell)])
        note = tab.text("charts")
        for cell in cells:
            if self.is_little(cell) and cell != "0 bytes":
                self.assertIn(f"({cell})", note)

    @staticmethod
    def is_little(cell):
        """Below 64 KiB: such a space has no chart if others are large."""
        number, unit = cell.split()
        return unit in ("byte", "bytes") or unit == "KiB" and float(number) < 64

    def test_temporaries_by_scope_and_alone(self):
        module = (
            "HloModule scopes, is_scheduled=true\nENTRY e {\n  a = f32[4096]{0:T(1024)} parameter(0)\n"
            '  b = f32[2048]{0:T(1024)} custom-call(a), custom_call_target="x", metadata={op_name="jit(f)/layer_0/dot"}\n'
            '  c = f32[1024]{0:T(1024)} custom-call(b), custom_call_target="x", metadata={op_name="jit(f)/layer_1/dot"}\n'
            '  ROOT r = f32[1024]{0:T(1024)} custom-call(b, c), custom_call_target="x"\n}\n')
        tab = self.show(self.page("scopes", module))
        self.assertEqual(tab.text("scopes").split("\n")[-1].strip()[-5:], "4 KiB")
        self.assertIn("layer_0", tab.text("scopes"))
        tab.ask("$('scopes').querySelector('button').click();")
        self.assertNotIn("layer_0", tab.text("scopes"))
        tab.ask("$('only-temporaries').click();")
        peak = tab.ask("return document.querySelector('.scale .peak').textContent;")
        self.assertEqual(peak, "12 KiB", "of temporaries alone")

    def test_scopes_of_a_layer_are_one_and_sorted_by_size_at_the_moment(self):
        def line(name, size, op_name):
            metadata = f', metadata={{op_name="{op_name}"}}' if op_name else ""
            return f'  {name} = f32[{size}]{{0:T(1024)}} custom-call(a), custom_call_target="x"{metadata}\n'

        module = ("HloModule layers, is_scheduled=true\nENTRY e {\n  a = f32[1024]{0:T(1024)} parameter(0)\n"
                  + line("b", 2048, "jit(f)/jvp(layer_0)/attention/dot")
                  + line("c", 1024, "jit(f)/jvp(layer_1)/dot")
                  + line("d", 8192, "jit(f)/transpose(jvp(layer_1))/mul")
                  + line("e", 2048, "jit(f)/transpose(jvp(layer_0/attention))/mul")
                  + line("g", 1024, "jit(f)/jvp()/mul")
                  + line("h", 4096, "")
                  + '  ROOT r = f32[1024]{0:T(1024)} custom-call(b, c, d, e, g, h), custom_call_target="x"\n}\n')
        tab = self.show(self.page("layers", module))
        rows = "return Array.from($('scopes').querySelectorAll('li'), (each) => each.querySelector('bdi').textContent + " \
               "' ' + each.querySelector('.bytes').textContent);"
        self.assertEqual(tab.ask(rows), [
            "all temporaries 72 KiB", "jit(f) 56 KiB", "layer_1 36 KiB", "layer_0 16 KiB", "attention 16 KiB",
            "directly in jit(f) 4 KiB", "no op_name 16 KiB"])
        tab.ask("document.querySelector('.plot').focus();")
        tab.press("Home", "ArrowRight", "ArrowRight")
        self.assertEqual(tab.ask(rows)[2:5], ["layer_0 8 KiB", "attention 8 KiB", "layer_1 4 KiB"])
        last = tab.ask("const list = $('scopes'), row = list.lastElementChild; list.scrollTop = 0;"
                       "return row.getBoundingClientRect().bottom <= list.getBoundingClientRect().bottom + 1;")
        self.assertTrue(last, "the last row is in sight")

    def test_a_narrow_window_cuts_no_table(self):
        dump = self.root / "narrow"
        dump.mkdir(exist_ok=True)
        (dump / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(PADDED, encoding="utf-8")
        (dump / "module_0002.jit_g.cpu_after_optimizations.txt").write_text(TWO_SPACES, encoding="utf-8")
        index = self.root / "narrow.html"
        subprocess.run([OPTIONS.kashi, "memory", "--html", index, dump], check=True, timeout=TIMEOUT_S)
        for page in (self.page("padded", PADDED), index):
            tab = self.show(page)
            tab.resize(420, 900)
            tab.settle()
            self.assertEqual(tab.ask(
                "return [document.documentElement, ...document.querySelectorAll('.wide')]"
                ".filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent.slice(0, 60));"), [])
            self.assertIn("temporaries", tab.ask(
                "return getComputedStyle(document.querySelector('[data-column=temporaries]'), '::before').content;"))

    def test_keys(self):
        tab = self.show(self.page("two", TWO_SPACES))
        tab.ask("document.querySelector('.plot').focus();")
        states = []
        for key in ("Home", "ArrowRight", "ArrowUp", "ArrowLeft", "End", "PageUp", "PageDown", "ArrowDown", "s", "p",
                    "Escape"):
            tab.press(key)
            states.append([key, *tab.state])
        self.assertEqual(states, [
            ["Home", "0", "0", "true"], ["ArrowRight", "1", "0", "true"], ["ArrowUp", "2", "0", "true"],
            ["ArrowLeft", "1", "0", "true"], ["End", "3", "0", "true"], ["PageUp", "2", "0", "true"],
            ["PageDown", "3", "0", "true"], ["ArrowDown", "2", "0", "true"], ["s", "2", "1", "true"],
            ["p", "1", "1", "true"], ["Escape", "1", "1", "false"]])
        self.assertIn("step 1, b (negate): 4 KiB in S(1) VMEM",
                      tab.ask("return document.querySelectorAll('.plot')[1].getAttribute('aria-valuetext');"))

    def test_keys_that_scroll_do_so_outside_of_charts(self):
        tab = self.show(self.page("two", TWO_SPACES), height=300)
        tab.press("End")
        tab.settle()
        self.assertEqual(tab.state, ["2", "0", "false"])

    def test_tab_reaches_everything_and_shows_where_it_is(self):
        tab = self.show(self.page("two", TWO_SPACES))
        stops, outlines = [], set()
        for _ in range(40):
            tab.press("Tab")
            stop, outline = tab.ask("""
                const at = document.activeElement, style = getComputedStyle(at);
                return [at.id || at.className || at.textContent, `${style.outlineStyle} ${style.outlineWidth}`];""")
            if stops and at_the_end(stop, stops):
                break
            stops.append(stop)
            outlines.add(outline)
        self.assertEqual(
            stops,
            ["zoom-in", "zoom-out", "zoom-all", "only-temporaries", "by-scope", "name", "to-peak", "plot", "name",
             "to-peak", "plot", "search", "rows", "size", "padding", "b", "enlarge"],
            "the list is one stop")
        self.assertEqual(outlines, {"solid 3px"})

    def test_arrows_walk_through_the_list(self):
        tab = self.show(self.page("padded", PADDED))
        tab.ask("document.querySelector('#buffers td button').focus();")
        tab.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
        self.assertEqual(tab.ask("return document.activeElement.textContent;"), "a")
        tab.press("Enter")
        self.assertEqual(tab.ask("return $('details').querySelector('h2').textContent;"), "a")
        self.assertEqual(tab.ask("return document.activeElement.textContent;"), "a")
        self.assertEqual(tab.ask("return document.querySelector('#buffers [aria-pressed=true]').textContent;"), "a")

    def test_order_by_padding(self):
        module = TWO_SPACES.replace("c = f32[2048]{0:T(1024)}", "c = f32[8,1]{1,0:T(8,128)}")
        tab = self.show(self.page("order", module))
        self.assertEqual(tab.buffers, ["a", "c", "r"])
        tab.point(*tab.place("#buffers th button", number=1), click=True)
        self.assertEqual(tab.buffers, ["c", "a", "r"])
        self.assertIn("most padding first", tab.text("count"))
        self.assertEqual(tab.ask("return document.querySelector('#buffers [aria-sort]').textContent;"), "padding")

    def test_the_drawing_can_be_enlarged(self):
        tab = self.show(self.page("padded", PADDED))
        tab.ask("document.querySelector('.enlarge').focus();")
        tab.press("Enter")
        self.assertTrue(tab.ask("return $('large').open;"))
        tab.press("ArrowRight", "Escape")
        self.assertFalse(tab.ask("return $('large').open;"))
        self.assertEqual((tab.focused(), tab.state), ("enlarge", ["1", "0", "false"]), "keys were the dialog's")

    def test_slash_goes_to_the_search_and_escape_leaves_it(self):
        tab = self.show(self.page("two", TWO_SPACES))
        tab.press("/")
        self.assertEqual(tab.focused(), "search")
        tab.press("2", "0", "4", "8", "ArrowRight", "s")
        self.assertEqual(tab.ask("return $('search').value;"), "2048s")
        self.assertEqual(tab.state, ["2", "0", "false"])
        tab.press("Escape")
        self.assertEqual(tab.ask("return [document.activeElement.id, $('search').value];"), ["", ""])
        self.assertEqual(len(tab.buffers), 3)

    def test_click_pins_and_hover_tells(self):
        tab = self.show(self.page("padded", PADDED))
        tab.point(*tab.place(".plot", 0.9))
        self.assertEqual(tab.text("tip"), "step 2, r (copy): 8.25 GiB in S(0) HBM, 8 GiB needed no more afterwards")
        self.assertEqual(tab.state, ["2", "0", "false"])
        tab.point(*tab.place(".plot", 0.1), click=True)
        self.assertEqual(tab.state, ["0", "0", "true"])
        tab.point(*tab.place(".plot", 0.9))
        self.assertEqual(tab.state, ["0", "0", "true"])
        tab.point(*tab.place("h1"))
        self.assertTrue(tab.ask("return $('tip').hidden;"))

    def test_a_click_anywhere_in_a_row_chooses_its_buffer(self):
        tab = self.show(self.page("two", TWO_SPACES))
        tab.point(*tab.place("#buffers tbody td:first-child", number=1), click=True)
        self.assertEqual(tab.ask("""return [$("details").querySelector("h2"), document.activeElement,
            document.querySelector("#buffers tr.chosen button")].map((each) => each.textContent);"""), ["a", "a", "a"])

    def test_texts_of_the_module_stay_texts(self):
        tab = self.show(self.page("evil", EVIL_MODULE), "step=1")
        self.assertEqual(tab.ask("return document.title;"), "padded: memory")
        self.assertIn(EVIL, tab.ask("return $('details').textContent;"))
        self.assertIn(f"\u2068{EVIL}\u2069", tab.ask("return $('moment').textContent;"), "it turns nothing around")

    def test_long_texts_leave_room(self):
        name = "b" * 5000
        module = PADDED.replace("jit(f)", "x" * 100000).replace("b = ", f"{name} = ").replace("(b)", f"({name})")
        tab = self.show(self.page("long", module), "step=1")
        self.assertLess(tab.ask("return document.querySelector('#buffers tbody tr').clientHeight;"), 200)
        self.assertLess(tab.ask("return document.documentElement.scrollHeight;"), 3000)

    def test_bytes_that_are_no_utf8(self):
        page, broken = self.root / "broken.html", self.root / "broken.hlo"
        broken.write_bytes(PADDED.encode().replace(b"model.py", b"m\xff\xc3"))
        subprocess.run([OPTIONS.kashi, "memory", "--html", page, broken], timeout=TIMEOUT_S, check=True)
        tab = self.show(page)
        self.assertEqual(tab.buffers, ["b", "a", "r"])
        self.assertIn("m\ufffd\ufffd:12", tab.text("details"))

    def test_small_modules(self):
        one = self.show(self.page("one", "HloModule one\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"))
        self.assertEqual((one.state, one.buffers), (["0", "0", "false"], ["p"]))
        one.press("ArrowRight", "ArrowLeft", "+", "-", "0", "s", "p", "Escape")
        self.assertEqual(one.state, ["0", "0", "false"])
        none = self.show(self.page("none", "HloModule none\n\nENTRY e {\n  ROOT p = f32[0,5]{1,0} parameter(0)\n}\n"))
        self.assertIn("0 bytes in S(0)", none.text("moment"))
        self.assertIn("f32[0,5]{1,0}", none.text("details"))

    def test_a_window_of_any_width(self):
        for width in (360, 760, 1151, 2400):
            tab = self.show(self.page("padded", PADDED), width=width)
            beside = tab.ask(
                "const {scrollWidth, clientWidth} = document.documentElement; return scrollWidth - clientWidth;")
            self.assertEqual(beside, 0, f"nothing to scroll to, {width} wide")

    def test_light_and_dark(self):
        tab = self.show(self.page("padded", PADDED))
        for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 24, 27)")):
            tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.assertEqual(tab.ask("return getComputedStyle(document.body).backgroundColor;"), colour)
            tab.settle()
            drawing = tab.ask("return decodeURIComponent(document.querySelector('.enlarge img').currentSrc);")
            self.assertIn({"light": '"#ffffff"', "dark": '"#16191d"'}[scheme], drawing, "the drawing's background")

    def test_a_large_module(self):
        page = self.page("large", large_module())
        self.assertLess(page.stat().st_size, 9_000_000)
        start = time.monotonic()
        tab = self.show(page)
        loaded = time.monotonic() - start
        answer = tab.ask("""
            const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
            const peak = Math.floor(40000 / 58000 * canvas.width);
            const filled = (x) => pen.getImageData(x, Math.round(canvas.height * 0.1), 1, 1).data[3] > 0;
            const drawn = [peak - 2, peak - 1, peak, peak + 1, peak + 2].filter(filled).length;
            const press = {key: "ArrowRight", bubbles: true}, start = performance.now();
            for (let i = 0; i < 10; ++i) document.body.dispatchEvent(new KeyboardEvent("keydown", press));
            return {drawn, elsewhere: filled(10), each: (performance.now() - start) / 10};""")
        print(f"58,000 steps: {page.stat().st_size:,} bytes, opened in {loaded * 1000:.0f} ms, "
              f"{answer['each']:.1f} ms a key")
        self.assertGreaterEqual(answer["drawn"], 2, "the peak lasts a fraction of a pixel, and can be seen")
        self.assertFalse(answer["elsewhere"])
        tab.press("/")
        tab.call("Input.insertText", text="v.4999")
        self.assertEqual(len(tab.buffers), 11)  # v.4999, v.49990 to v.49999
        tab.point(*tab.place(".plot", 40000 / 58000), click=True)
        self.assertEqual(tab.state, ["40001", "0", "true"], "the mouse finds the peak")
        # Times are for people; a machine that has other work fails only where something is badly wrong.
        self.assertLess(loaded, 60)
        self.assertLess(answer["each"], 2_000)


def at_the_end(stop, stops):
    """Whether Tab has left the page or started again."""
    return stop.strip().startswith("Memory of") or stop == stops[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--chromium", default="", help="default: found in the PATH")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    BrowserTest.chromium = find_chromium(OPTIONS.chromium)
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    if result.skipped:
        print(f"NOT TESTED: {len(result.skipped)} tests of the page of `kashi memory --html`, as there is no Chromium; "
              "./dev setup installs it", flush=True)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
