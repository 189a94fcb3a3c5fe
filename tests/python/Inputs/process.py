# What loading the library, compiling and running leave of the process: its umask, its signal handlers and its working directory are what they were. Errors of C are those of the thread.
# SPDX-License-Identifier: MIT
import ctypes
import os
import sys
import threading

import numpy as np


def state():
    mask = os.umask(0o27)
    os.umask(mask)
    with open("/proc/self/status", encoding="utf-8") as file:
        signals = [line.strip() for line in file if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
    return mask, signals, os.getcwd()


os.umask(0o26)
before = state()
import selvedge

double = selvedge.jit("op double(x: f32[N]) -> (y: f32[N] out_init(0)) { kernel main(i in N by BN) { y[i] = x[i] * 2; } }")
print(double(np.ones(3, np.float32)).tolist())
try:
    selvedge.jit("op")
except Exception as error:
    print(type(error).__name__)
print("same" if state() == before else f"{before}\n{state()}")

c = ctypes.CDLL(sys.argv[1])
c.selvedge_last_error.restype = ctypes.c_char_p
c.selvedge_load.restype = ctypes.c_void_p
other = []
thread = threading.Thread(target=lambda: other.extend([c.selvedge_load(None, 0), c.selvedge_last_error()]))
thread.start()
thread.join()
print(other, c.selvedge_last_error())
