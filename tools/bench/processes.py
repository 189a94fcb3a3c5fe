# Programs that may die or hang, and what they say.
# SPDX-License-Identifier: MIT
import os
import queue
import signal
import subprocess
import threading


def lines_of(stream):
    """A queue of the lines of a stream, and None behind the last one: it can be waited for with a limit."""
    lines = queue.Queue()

    def pump():
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    return lines


def finished(command, seconds, path, environment=None):
    """Status and output of a program, None after a time; what it started ends with it. Its output lies in `path`."""
    with open(path, "w+", errors="replace") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        said.seek(0)
        return status, said.read()
