# Chromium without a window, for pictures of pages and for tests: it speaks DevTools over two pipes, and needs no package.
# SPDX-License-Identifier: MIT
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


class Browser:
    """One page, of any width, light or dark."""

    def __init__(self, program="chromium"):
        self.folder, self.number, self.session = tempfile.mkdtemp(prefix="browser-"), 0, None
        # It reads from descriptor 3 and writes to 4.
        out_read, self.out = os.pipe()
        self.source, in_write = os.pipe()
        script = f'exec {program} --headless=new --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe --user-data-dir="{self.folder}" 3<&{out_read} 4>&{in_write}'
        self.process = subprocess.Popen(["bash", "-c", script], pass_fds=(out_read, in_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(out_read)
        os.close(in_write)
        self.source = os.fdopen(self.source, "rb")
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.out)
        self.source.close()
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        """The next one; they end with a zero byte."""
        text = bytearray()
        while (byte := self.source.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("chromium has ended")
            text += byte
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        words = {"id": self.number, "method": method, "params": params}
        if self.session:
            words["sessionId"] = self.session
        os.write(self.out, json.dumps(words).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, path, width, height=900, dark=False, anchor=""):
        """Shows a file in a window of so many pixels."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        # From another page, so that the anchor is gone to.
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=pathlib.Path(path).resolve().as_uri() + anchor)
        self.evaluate("new Promise(done => { const wait = () => document.readyState === 'complete' ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(wait, 20); wait(); })")

    def evaluate(self, script):
        """The value of an expression; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", "an exception"))
        return answer["result"].get("value")

    def picture(self, kind="png", **more):
        """What the window shows, as bytes."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format=kind, **more)["data"])

    def pixels(self, points):
        """Colours that the window shows at (x, y), as (red, green, blue)."""
        data = base64.b64encode(self.picture()).decode()
        return [tuple(colour) for colour in self.evaluate(f"""(async () => {{
            const bytes = Uint8Array.from(atob("{data}"), c => c.charCodeAt(0)), image = await createImageBitmap(new Blob([bytes], {{type: "image/png"}}));
            const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return {json.dumps(points)}.map(([x, y]) => [...context.getImageData(Math.floor(x), Math.floor(y), 1, 1).data].slice(0, 3));
        }})()""")]
