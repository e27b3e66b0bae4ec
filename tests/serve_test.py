#!/usr/bin/env python3
"""`kashi serve`: what it answers, whom it refuses, hostile requests, and its page in Chromium.

    tests/serve_test.py --kashi build/kashi [--chromium /usr/bin/chromium]
"""
import argparse
import contextlib
import http.client
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from browser import TIMEOUT_S, BrowserCase, find_chromium
from report_page_cases import CHANGED, MODEL
from report_page_test import ReportTab

OPTIONS = argparse.Namespace(kashi="", chromium="")


class ServeCase(unittest.TestCase):
    """A server of a dump directory, for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.root = pathlib.Path(cls.folder.name)
        dump = cls.root / "dump"
        dump.mkdir()
        for name, text in (("module_0001.jit_step.before_optimizations.txt", MODEL),
                           ("module_0001.jit_step.cpu_after_optimizations.txt", CHANGED),
                           ("module_0002.jit_bad.before_optimizations.txt", "HloModule <b>bad\n\nENTRY e {\n")):
            (dump / name).write_text(text, encoding="utf-8")
        cls.server = subprocess.Popen([OPTIONS.kashi, "serve", "--target", "v5e", dump], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        cls.url = cls.server.stdout.readline().strip()
        parts = urllib.parse.urlparse(cls.url)
        cls.port, cls.path = parts.port, parts.path

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGINT)
        _, cls.errors = cls.server.communicate(timeout=TIMEOUT_S)
        assert cls.server.returncode == 130, cls.errors
        assert "interrupted" in cls.errors
        cls.folder.cleanup()
        super().tearDownClass()

    def ask(self, path, method="GET", **headers):
        """(status, headers, body) of a request below the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def raw(self, data, reads=True):
        """What the server sends back for these bytes, until it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(data)
                if not reads:
                    return b""
                connection.shutdown(socket.SHUT_WR)
                received = b""
                while more := connection.recv(1 << 16):
                    received += more
                return received
        return b""


class ServerTest(ServeCase):
    def test_the_page_and_its_data(self):
        status, headers, body = self.ask(self.path)
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"connect-src 'self'", body)
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Cache-Control"], "no-store")
        status, headers, body = self.ask(f"{self.path}module/m0")
        data = json.loads(body)
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        self.assertEqual(sorted(data), ["memory/m0", "module/m0"])
        self.assertIn("product", data["module/m0"]["texts"])
        self.assertEqual(len(json.loads(self.ask(f"{self.path}passes/0")[2])["passes/0"]["rows"]), 2)
        comparison = json.loads(self.ask(f"{self.path}compare/m1/m0")[2])["compare/m1/m0"]
        self.assertEqual(len(comparison["change_a"]), 2)

    def test_errors_are_data(self):
        status, _, body = self.ask(f"{self.path}module/m2")
        self.assertEqual(status, 500)
        self.assertIn("module_0002", json.loads(body)["error"])
        for path in ("module/m9", "module", "passes/1", "passes/x", "compare/m0", "compare/m0/m9", "../etc/passwd",
                     "index.html", "%2e%2e/", "module/m0/", "a" * 5000):
            status, _, body = self.ask(self.path + path)
            self.assertEqual((status, json.loads(body)["error"]), (404, "there is no such data"), path)

    def test_who_is_refused(self):
        self.assertEqual(self.ask("/")[0], 403)
        self.assertEqual(self.ask("/" + "0" * 32 + "/")[0], 403)
        self.assertEqual(self.ask(self.path.rstrip("/"))[0], 403)
        self.assertEqual(self.ask(self.path.upper())[0], 403)
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1", "127.0.0.1:1", "",
                     f"127.0.0.1:{self.port}.evil.example"):
            self.assertEqual(self.ask(self.path, Host=host)[0], 403, host)
        self.assertEqual(self.ask(self.path, Host=f"localhost:{self.port}")[0], 200)
        self.assertEqual(self.ask(self.path, method="POST")[0], 405)
        status, headers, body = self.ask(self.path, method="HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 10_000)
        twice = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nHost: evil.example\r\n\r\n"
        self.assertTrue(self.raw(twice.encode()).startswith(b"HTTP/1.1 403 "))
        self.assertTrue(self.raw(f"GET {self.path} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 403 "), "no host")

    def test_it_listens_on_this_machine_only(self):
        hexadecimal = f"{self.port:04X}"
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()
                     if line.split()[3] == "0A" and line.split()[1].endswith(f":{hexadecimal}")]
        self.assertEqual(listening, [f"0100007F:{hexadecimal}"])

    def test_hostile_requests_never_end_it(self):
        good = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode()
        for data in (b"", b"\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"GET /\r\n\r\n",
                     b"\xff" * 20_000,
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", b"A" * 1_000_000, good[:-2], good * 50,
                     good.replace(b"GET", b"G\r\nET"), b"GET http://evil/ HTTP/1.1\r\n\r\n",
                     good.replace(b"\r\n\r\n", b"\r\nContent-Length: 99999999999999999999\r\n\r\n" + b"x" * 100_000)):
            self.raw(data)
            self.raw(data, reads=False)
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        for _ in range(300):
            data = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
            self.raw(bytes(data), reads=rng.random() < 0.7)
        self.assertEqual(self.ask(self.path)[0], 200, f"seed {seed}")

    def test_clients_that_keep_silent_do_not_keep_others_out(self):
        with contextlib.ExitStack() as stack:
            for _ in range(150):
                silent = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S))
                silent.sendall(b"GET ")
            start = time.monotonic()
            self.assertEqual(self.ask(self.path)[0], 200)
            print(f"150 silent clients: an answer after {(time.monotonic() - start) * 1000:.0f} ms")
            # One that asks for much and reads nothing.
            greedy = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S))
            greedy.sendall(f"GET {self.path}module/m0 HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            self.assertEqual(self.ask(self.path)[0], 200)

    def test_usage(self):
        model = self.root / "model.hlo"
        model.write_text(MODEL, encoding="utf-8")
        run = lambda *arguments: subprocess.run([OPTIONS.kashi, "serve", *arguments], capture_output=True, text=True,
                                                timeout=TIMEOUT_S, check=False)
        self.assertEqual(run("-").returncode, 2)
        self.assertEqual(run(model, model, model).returncode, 2)
        self.assertEqual(run("--port", "65536", model).returncode, 2)
        self.assertEqual(run(self.root / "missing").returncode, 1)
        taken = run("--port", str(self.port), model)
        self.assertEqual(taken.returncode, 1)
        self.assertIn(f"cannot listen on 127.0.0.1:{self.port}", taken.stderr)


class BrowserTest(BrowserCase, ServeCase):
    tab_type = ReportTab

    def show(self, page, fragment="", **size):
        tab = ReportTab(self.browser, f"{page}#{fragment}", **size)
        self.addCleanup(tab.close)
        return tab

    def test_modules_are_read_when_they_are_looked_at(self):
        tab = self.show(self.url)
        self.assertIn("module_0001.jit_step", tab.text("module-list"))
        tab.click_text("#module-list button", "cpu_after")
        tab.until("document.getElementById('graph') !== null")
        tab.press("/")
        tab.call("Input.insertText", text="again")
        tab.press("Enter")
        self.assertEqual(tab.chosen, "again")
        tab.press("m")
        tab.until("document.getElementById('moment').innerText !== ''")
        self.assertIn("S(0) HBM", tab.text("memory-totals"))

    def test_any_two_stages_and_errors(self):
        tab = self.show(self.url)
        tab.ask("$('compare-a').value = 'm1'; $('compare-b').value = 'm0'; $('compare-a').onchange();"
                "$('compare').click();")
        tab.until("document.getElementById('differences') !== null")
        self.assertIn("1 gone", tab.text("differences"))
        tab.ask("location.hash = '#module=m2';")
        tab.until("!document.getElementById('problem').hidden")
        self.assertIn("module_0002", tab.text("problem"))
        self.assertEqual(tab.ask("return document.querySelectorAll('#problem b').length;"), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--chromium", default="", help="default: found in the PATH")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    BrowserTest.chromium = find_chromium(OPTIONS.chromium)
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    if result.skipped:
        print(f"NOT TESTED: {len(result.skipped)} tests of the page of `kashi serve`, as there is no Chromium; "
              "./dev setup installs it", flush=True)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
