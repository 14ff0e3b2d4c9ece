"""A headless Chromium, driven over its DevTools pipe: JSON between NUL bytes, no other library."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 200.0  # seconds for one answer on a busy machine


def find():
    """Path of a Chromium: $CHROMIUM, else one on the path, else None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser: events that it saw, expressions that it evaluates."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        ours, self.write = os.pipe()
        self.read, theirs = os.pipe()

        def wire():  # the browser reads from 3 and writes to 4
            spare = os.dup(ours), os.dup(theirs)
            for fd, number in zip(spare, (3, 4), strict=True):
                os.dup2(fd, number)

        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
                "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--disable-dev-shm-usage",
                f"--user-data-dir={self.folder.name}", "about:blank",
            ],
            close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=wire,  # noqa: PLW1509 - there is no other thread
        )  # fmt: skip
        os.close(ours)
        os.close(theirs)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        page = self("Target.createTarget", url="about:blank")["targetId"]
        attached = self("Target.attachToTarget", targetId=page, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def __call__(self, method, **params):
        """Answer to one command; what else arrives meanwhile is kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            assert left > 0, "the browser does not answer"
            if select.select([self.read], [], [], left)[0]:
                content = os.read(self.read, 1 << 20)
                assert content, "the browser has gone"
                self.buffer += content
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def size(self, width, height):
        """Give the window a size; narrow ones are phones."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
             mobile=width < 600)  # fmt: skip

    def open(self, address):
        """Open a page anew and wait until it is there."""
        self("Page.navigate", url="about:blank")
        self.events.clear()
        self("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression):
        """Value of a JavaScript expression."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True,
                     awaitPromise=True, userGesture=True)  # fmt: skip
        assert "exceptionDetails" not in found, (expression, found["exceptionDetails"])
        return found["result"].get("value")

    def wait(self, condition):
        """Wait until a JavaScript condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not self.value(condition):
            assert time.monotonic() < deadline, condition
            time.sleep(0.02)

    def click(self, selector):
        """Click in the middle of what a selector finds, as a user does."""
        place = self.value(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            node.scrollIntoView({{block: "nearest"}});
            const box = node.getClientRects()[0];
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left",
                 clickCount=1)  # fmt: skip

    def press(self, key, **more):
        """Press one key."""
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, **more)

    def type(self, text):
        """Type a text where the cursor is."""
        self("Input.insertText", text=text)

    def printed(self):
        """PDF of the page as it would be printed."""
        return base64.b64decode(self("Page.printToPDF", preferCSSPageSize=True)["data"])

    def close(self):
        """End the browser."""
        with contextlib.suppress(AssertionError, OSError):
            self.session = None
            self("Browser.close")
        self.process.kill()
        self.process.wait(timeout=PATIENCE)
        for fd in (self.read, self.write):
            os.close(fd)
        for _ in range(50):  # its children may still write
            with contextlib.suppress(OSError):
                self.folder.cleanup()
                return
            time.sleep(0.1)
