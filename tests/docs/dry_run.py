# Parses the command line of a Python program as it does, and no more: neither a GPU nor the packages that it imports are needed.
# SPDX-License-Identifier: MIT
"""Usage: dry_run.py [--part] SCRIPT ARGUMENT...

Ends with 0 where argparse takes the arguments; with --part required ones may be left out. A program that has --list is asked for its list, which also tells whether names of
cases exist."""
import argparse
import importlib.abc
import importlib.machinery
import os
import runpy
import sys
import unittest.mock

# Not in CI, or not needed to parse.
ABSENT = {"torch", "numpy", "jax", "transformers", "triton", "tilelang", "flash_attn", "pytest", "cuda", "selvedge"}


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of which every name is a mock."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in ABSENT else None

    def create_module(self, spec):
        module = unittest.mock.MagicMock(name=spec.name)
        module.__path__, module.__spec__ = [], spec
        return module

    def exec_module(self, module):
        pass


parse = argparse.ArgumentParser.parse_args


def parse_only(self, *arguments, **named):
    for action in self._actions if PART else ():
        action.required = False
    options = parse(self, *arguments, **named)
    if not hasattr(options, "list"):
        print("arguments are taken")
        sys.exit(0)
    options.list = True
    return options


PART = sys.argv[1] == "--part"
sys.argv = sys.argv[PART + 1:]
script = sys.argv[0]
sys.meta_path.insert(0, Absent())
argparse.ArgumentParser.parse_args = parse_only
sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
runpy.run_path(script, run_name="__main__")
sys.exit(f"{script} parsed nothing")
