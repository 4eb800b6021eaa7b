"""Questions to ask of a report: what was found, and on which line."""

import inspect


def kinds(report):
    """The classes of what was found, in order."""
    return [found.kind for found in report.findings]


def line_of(function, text):
    """The line of a function's or kernel's source on which a text stands."""
    lines, first = inspect.getsourcelines(getattr(function, "py_func", function))
    return next(first + k for k, line in enumerate(lines) if text in line)
