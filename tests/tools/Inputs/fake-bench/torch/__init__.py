# As much of PyTorch as bench.py needs to time functions that do nothing.
# SPDX-License-Identifier: MIT
import contextlib
import types

__version__ = "0"
no_grad = contextlib.nullcontext
manual_seed = lambda seed: None
version = types.SimpleNamespace(cuda="0")
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 0))
lost = False


class Event:
    def __init__(self, enable_timing):
        pass

    record = synchronize = lambda self: None
    query = lambda self: True
    elapsed_time = lambda self, end: 2.0


def synchronize():
    if lost:
        raise RuntimeError("the context is lost")


cuda = types.SimpleNamespace(is_available=lambda: True, synchronize=synchronize, empty_cache=lambda: None, Event=Event, _sleep=lambda cycles: None,
                             get_device_name=lambda: "fake", get_device_properties=lambda index: types.SimpleNamespace(multi_processor_count=1))
