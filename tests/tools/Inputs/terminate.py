# Terminates a compilation whose ptxas takes long: terminate.py FOLDER PTXAS COMMAND...
# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
import time

folder, ptxas, *command = sys.argv[1:]
pid_file, temporary = os.path.join(folder, "pid"), os.path.join(folder, "tmp")
environment = dict(os.environ, SELVEDGE_PTXAS=ptxas, SLOW_PTXAS_FILE=pid_file, TMPDIR=temporary, XDG_CACHE_HOME=os.path.join(folder, "tmp/none"))
process = subprocess.Popen(command, env=environment)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


assert wait_for(lambda: os.path.exists(pid_file) and open(pid_file).read().endswith("\n"))
child = int(open(pid_file).read())
process.send_signal(signal.SIGTERM)
print("ended by signal", -process.wait())


def is_gone():
    try:
        return open(f"/proc/{child}/stat").read().split()[2] == "Z"
    except OSError:
        return True


print("its ptxas", "is gone" if wait_for(is_gone) else "runs on")
print("left:", sorted(os.listdir(folder)), sorted(os.listdir(temporary)))
