"""Headless Chromium for tests of pages. They talk to it in the DevTools protocol over a pipe. No call waits for a fixed
time: each ends when Chromium answers.
"""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import unittest

TIMEOUT_S = 180  # of one answer; a machine under load needs seconds

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37,
        "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    """A Chromium that answers calls of the DevTools protocol: JSON messages, each followed by a zero byte."""

    def __init__(self, program, folder):
        self.log = tempfile.TemporaryFile(dir=folder)
        profile = tempfile.mkdtemp(dir=folder)
        # --no-sandbox: for root, and machines without user namespaces; the pages are our own. The protocol uses the
        # file descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >&2', program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.calls, self.received, self.events = 0, b"", []

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(timeout=TIMEOUT_S)
        finally:
            self.end()

    def end(self):
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.log):
            file.close()

    def is_alive(self):
        return self.process.poll() is None

    def call(self, method, session="", **params):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": params, **({"sessionId": session} if session else {})}
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            pass  # waiting for the answer tells why
        answer = self.wait(lambda each: each.get("id") == message["id"], method)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, is_it, what):
        """The first message from now on for which `is_it`; all events are kept."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            message = self.receive(deadline, what)
            if "method" in message:
                self.events.append(message)
            if is_it(message):
                return message

    def receive(self, deadline, what):
        pipe = self.process.stdout.fileno()
        while b"\0" not in self.received:
            ready, _, _ = select.select([pipe], [], [], max(deadline - time.monotonic(), 0))
            more = os.read(pipe, 1 << 20) if ready else b""
            if not more:
                self.log.seek(0)
                log = self.log.read().decode("utf-8", "replace")[-3000:]
                self.end()  # so that the next test starts another one
                raise AssertionError(f"{what}: Chromium {'has ended' if ready else 'does not answer'}; it said:\n{log}")
            self.received += more
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)


class Tab:
    """A page in the browser."""

    def __init__(self, browser, url, width=1200, height=900):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.open(url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def open(self, url):
        """Returns when the page is loaded and its script has run."""
        self.browser.events.clear()
        self.call("Page.navigate", url=url)
        is_loaded = lambda each: each.get("method") == "Page.loadEventFired" and each.get("sessionId") == self.session
        if not any(is_loaded(event) for event in self.browser.events):
            self.browser.wait(is_loaded, url)

    def complaints(self):
        """Errors of the script, messages of the console, and requests for anything but the page."""
        found = []
        for event in self.browser.events:
            params = event["params"]
            if event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(params)
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(params["entry"])
            if event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                found += [] if url.startswith(("file:", "data:")) else [url]
        return found

    def ask(self, script):
        """The result of `script`, the body of an async function, in the page. It has $(id)."""
        answer = self.call("Runtime.evaluate", returnByValue=True, awaitPromise=True, expression=
                           f"(async () => {{ const $ = (id) => document.getElementById(id); {script} }})()")
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def settle(self):
        """Waits until the page has handled the mouse: it does so before the next frame."""
        self.ask("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def press(self, *keys):
        for key in keys:
            code, letter = KEYS.get(key, ord(key[0].upper())), key if len(key) == 1 else "\r" if key == "Enter" else ""
            event = {"key": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown" if letter else "rawKeyDown", **event,
                      **({"text": letter} if letter else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def point(self, x, y, click=False):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def place(self, selector, share=0.5, number=0):
        """A point in the element, at this fraction of its width."""
        return self.ask(f"""
            const element = document.querySelectorAll({json.dumps(selector)})[{number}];
            element.scrollIntoView({{block: "nearest"}});
            const box = element.getBoundingClientRect();
            return [box.left + box.width * {share}, box.top + box.height / 2];""")

    def text(self, element):
        return self.ask(f"return $('{element}').innerText;")

    def focused(self):
        return self.ask("const at = document.activeElement; return at.id || at.className || at.textContent;")


def find_chromium(wish=""):
    """The path of Chromium; "" if there is none."""
    return next(filter(None, map(shutil.which, (wish, "chromium", "chromium-browser"))), "")


class BrowserCase(unittest.TestCase):
    """Tests of pages; a subclass has `root`, a folder. One Chromium runs for all tests of a class."""

    chromium = ""  # its path; "": the tests are skipped
    tab_type = Tab
    browser = None

    def setUp(self):
        if not self.chromium:
            self.skipTest("no Chromium")
        cls = type(self)
        if not (cls.browser and cls.browser.is_alive()):
            cls.browser = Browser(self.chromium, cls.root)

    @classmethod
    def tearDownClass(cls):
        if cls.browser and cls.browser.is_alive():
            cls.browser.close()
        super().tearDownClass()

    def show(self, page, fragment="", **size):
        """A tab with the page, a path or a URL. It must not complain until the end of the test."""
        url = page if isinstance(page, str) else page.as_uri()
        tab = self.tab_type(self.browser, f"{url}#{fragment}", **size)
        self.addCleanup(tab.close)
        self.addCleanup(lambda: self.assertEqual(tab.complaints(), []))
        return tab
