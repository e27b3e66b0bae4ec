#!/usr/bin/env python3
"""`kashi lsp` as an editor speaks to it.

    tests/lsp_test.py --kashi build/kashi [unittest's arguments]
"""
import json
import random
import subprocess
import unittest

import kashi_testing
from kashi_testing import TIMEOUT_S

URI = "file:///m.hlo"
TEXT = """HloModule m

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  v = f32[8] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(v, zero), dimensions={0}, to_apply=sum
}
"""


def message(content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notice(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def at(text, what, behind=0):
    """The position of `what` in the text, as the protocol counts."""
    before = text[:text.index(what) + behind]
    last = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(last.encode("utf-16-le")) // 2}


def messages_of(data):
    """The messages in the bytes. Each header must tell the length of its message."""
    found = []
    while data:
        header, data = data.split(b"\r\n\r\n", 1)
        length = int(header.removeprefix(b"Content-Length: "))
        found.append(json.loads(data[:length]))
        data = data[length:]
    return found


class LspTest(unittest.TestCase):
    def speak(self, *contents, status=0):
        """Sends the messages; returns those that come back, answers by number and notices in a list."""
        done = subprocess.run([kashi_testing.KASHI, "lsp"], input=b"".join(message(c) for c in contents),
                              capture_output=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, status, done)
        back = messages_of(done.stdout)
        return {m["id"]: m for m in back if "id" in m}, [m for m in back if "id" not in m]

    def ask(self, *requests, text=TEXT):
        """The answers to requests about an open text, and the notices."""
        return self.speak(request(0, "initialize", capabilities={}), notice("initialized"),
                          notice("textDocument/didOpen", textDocument={"uri": URI, "version": 1, "text": text}),
                          *requests, request(99, "shutdown"), notice("exit"))

    def about(self, number, method, what, behind=0, text=TEXT, **params):
        return request(number, "textDocument/" + method, textDocument={"uri": URI}, position=at(text, what, behind),
                       **params)

    def test_capabilities(self):
        answers, _ = self.ask()
        capabilities = answers[0]["result"]["capabilities"]
        for name in ("hover", "definition", "references", "documentSymbol", "rename", "completion", "foldingRange"):
            self.assertTrue(capabilities[name + "Provider"], name)
        self.assertEqual(answers[99]["result"], None)

    def test_diagnostics_of_open_changed_and_closed_texts(self):
        bad = TEXT.replace("ROOT r = f32[]", "ROOT r = f32[3]")
        fix = {"range": {"start": at(bad, "f32[3]", 4), "end": at(bad, "f32[3]", 5)}, "text": ""}
        process = subprocess.Popen([kashi_testing.KASHI, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.kill)

        def send(content):
            process.stdin.write(message(content))
            process.stdin.flush()

        def receive():
            length = int(process.stdout.readline().removeprefix(b"Content-Length: "))
            process.stdout.readline()
            return json.loads(process.stdout.read(length))

        send(request(0, "initialize"))
        receive()
        send(notice("textDocument/didOpen", textDocument={"uri": URI, "version": 1, "text": bad}))
        found = receive()["params"]
        self.assertEqual(found["version"], 1)
        self.assertIn("r", [bad.split("\n")[d["range"]["start"]["line"]].split()[1] for d in found["diagnostics"]])
        send(notice("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[fix]))
        self.assertEqual(receive()["params"], {"uri": URI, "version": 2, "diagnostics": []})
        send(notice("textDocument/didClose", textDocument={"uri": URI}))
        self.assertEqual(receive()["params"], {"uri": URI, "diagnostics": []})
        send(request(1, "shutdown"))
        receive()
        send(notice("exit"))
        process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 0)

    def test_answers(self):
        answers, _ = self.ask(
            self.about(1, "hover", "v, zero"), self.about(2, "definition", "to_apply=sum", 9),
            self.about(3, "references", "zero =", context={"includeDeclaration": False}),
            self.about(4, "documentHighlight", "zero ="), self.about(5, "rename", "zero =", newName="none"),
            self.about(6, "prepareRename", "zero ="), self.about(7, "prepareRename", "HloModule"),
            request(8, "textDocument/documentSymbol", textDocument={"uri": URI}),
            request(9, "textDocument/foldingRange", textDocument={"uri": URI}),
            self.about(10, "completion", "reduce(", 4))
        self.assertIn("f32[8]", answers[1]["result"]["contents"]["value"])
        self.assertEqual(answers[2]["result"]["range"]["start"], at(TEXT, "sum {"))
        self.assertEqual([r["range"]["start"] for r in answers[3]["result"]], [at(TEXT, "zero)")])
        self.assertEqual(len(answers[4]["result"]), 2)
        self.assertEqual([e["newText"] for e in answers[5]["result"]["changes"][URI]], ["none", "none"])
        self.assertEqual(answers[6]["result"]["end"], at(TEXT, "zero =", 4))
        self.assertIsNone(answers[7]["result"])
        self.assertEqual([s["name"] for s in answers[8]["result"]], ["sum", "main"])
        self.assertEqual(answers[9]["result"][0], {"startLine": 2, "endLine": 6})
        self.assertIn("reduce", [c["label"] for c in answers[10]["result"]])

    def test_columns_are_utf16(self):
        text = TEXT.replace("v = f32[8] parameter(0)", 'v = f32[8] parameter(0), metadata={op_name="\U0001f600"} /* \u00f6 */')
        answers, _ = self.ask(self.about(1, "definition", "v, zero", text=text), text=text)
        self.assertEqual(answers[1]["result"]["range"]["start"], at(text, "v = "))

    def test_requests_that_have_no_answer(self):
        answers, _ = self.ask(self.about(1, "rename", "zero =", newName="v"), self.about(2, "rename", "zero =", newName="1"),
                              request(3, "textDocument/hover", textDocument={"uri": "file:///other"}),
                              request(4, "workspace/symbol"), request(5, "textDocument/nothing"))
        self.assertIn("another instruction", answers[1]["error"]["message"])
        for number in range(1, 6):
            self.assertIn("error", answers[number])

    def test_order_of_a_session(self):
        answers, _ = self.speak(request(1, "shutdown"), request(2, "initialize"), request(3, "shutdown"),
                                request(4, "initialize"), notice("exit"))
        self.assertIn("error", answers[1])
        self.assertIn("result", answers[3])
        self.speak(request(1, "initialize"), notice("exit"), status=1)
        self.speak(request(1, "initialize"), status=1)

    def test_bad_transport_is_an_error(self):
        for data in (b"Content-Length: x\r\n\r\n", b"\r\n\r\n", b"Content-Length: 99999999999999\r\n\r\n", b"a" * 10000,
                     b"Content-Length: 1\r\n\r\n{"):
            done = subprocess.run([kashi_testing.KASHI, "lsp"], input=data, capture_output=True, timeout=TIMEOUT_S,
                                  check=False)
            self.assertEqual(done.returncode, 1, data)
            self.assertIn(b"kashi: error:", done.stderr, data)

    def test_random_messages(self):
        pick = random.Random(5)
        values = [None, 1, -3, 1e300, "x", URI, [], {}, {"uri": URI}, {"line": -1, "character": 2**62},
                  {"start": {"line": 1}, "end": {}}, [{"range": None, "text": 3}], [{"text": TEXT}], True]
        methods = ["textDocument/" + m for m in ("didOpen", "didChange", "didClose", "hover", "rename", "completion",
                                                 "references", "documentSymbol", "foldingRange")]
        contents = [request(0, "initialize")]
        for i in range(300):
            params = {key: pick.choice(values) for key in ("textDocument", "position", "contentChanges", "context")}
            content = {"method": pick.choice(methods), "params": pick.choice([params, pick.choice(values)])}
            if pick.random() < 0.5:
                content["id"] = pick.choice([i, str(i)])
            contents.append(pick.choice([content, content, content, pick.choice(values)]))
        self.speak(*contents, request("end", "shutdown"), notice("exit"))


if __name__ == "__main__":
    kashi_testing.main(__doc__)
