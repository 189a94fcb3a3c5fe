# Runs a command on a terminal of its own, and prints what it says there.
# SPDX-License-Identifier: MIT
"""Usage: on_terminal.py COMMAND ARGUMENT..."""
import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
try:
    while part := os.read(terminal, 4096):
        said += part
except OSError:  # the other end is closed
    pass
sys.stdout.write(said.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
