"""A step that waits is given up; one that computes has the processor time that it may take: `waiting_steps.py SELVEDGE_FUZZ`."""
# SPDX-License-Identifier: MIT
import json
import os
import signal
import subprocess
import sys
import tempfile

SOURCE = """op f(x: f32[M, N]) -> (y: f32[M] out_init(0)) {
  kernel main(i in M by BM) { var t = zeros f32[i]; for j in N by BN { t += sum(x[i, j], j); } y[i] = t; }
}"""


def main(binary):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        open(data, "wb").close()
        request = {"source": SOURCE, "renamed": "", "names": [], "cases": [], "steps": [{"do": "lower", "arch": "sm_80"}] * 200,
                   "cpu": 1, "memory": 6 << 30, "out": os.path.join(folder, "out"), "data": data}
        tool = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        tool.stdin.write(json.dumps(request) + "\n")
        tool.stdin.flush()
        tool.stdout.readline()
        child = int(subprocess.run(["ps", "-o", "pid=", "--ppid", str(tool.pid)], capture_output=True, text=True).stdout.split()[0])
        os.kill(child, signal.SIGSTOP)
        # What was written before may still be there.
        replies = (json.loads(line) for line in tool.stdout)
        late = next(r for r in replies if r["status"] != "ok")
        assert late["status"] == "timeout" and late["message"] == "Killed", late
        tool.kill()
        tool.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
