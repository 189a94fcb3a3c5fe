"""Takes the place of PyTorch where nothing is computed."""
# SPDX-License-Identifier: MIT


class Anything:
    def __getattr__(self, name):
        return Anything()

    def __call__(self, *args, **options):
        return Anything()

    def __add__(self, other):
        return Anything()

    __getitem__ = __mul__ = __rmul__ = __truediv__ = __add__


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
