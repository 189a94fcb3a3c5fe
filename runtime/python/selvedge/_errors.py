# What the library's statuses are in Python.
# SPDX-License-Identifier: MIT


class SelvedgeError(RuntimeError):
    """Base of what this package raises; the text is the library's own message."""


class BadInput(SelvedgeError, ValueError):
    """The source, a parameter, a tensor, a shape or a scalar is wrong. Of a source the text has file, line, column and a caret."""


class Unavailable(SelvedgeError):
    """This machine lacks what is needed: a driver, a GPU, ptxas, the library."""


class Failed(SelvedgeError):
    """Everything was in order and it failed all the same."""


# By selvedge_status.
OF_STATUS = {1: BadInput, 2: Unavailable, 3: Failed, 4: Failed}
