"""The small phrases that the sentences about findings are made of.

Every phrase falls back to shorter words where a detail is missing: a sentence about a bug must
never fail itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

ONCE = {"read": "reads", "write": "writes", "atomic": "updates"}


class Facts:
    """The details of one finding, as phrases; `get` treats None and "" as missing."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        self._details = details

    def get(self, key: str, default: Any = "") -> Any:
        """Return a detail, or `default` where it is missing."""
        value = self._details.get(key)
        return default if value is None or (isinstance(value, str) and not value) else value

    def has(self, *keys: str) -> bool:
        """Return whether all these details are known."""
        return all(self.get(key, None) is not None for key in keys)

    @property
    def array(self) -> str:
        """The array's name, or `the array`."""
        return str(self.get("array", "the array"))

    @property
    def element(self) -> str:
        """The element, as in `tile[2, 3]`, as much of it as is known."""
        return name_element(self.get("array"), self.index)

    @property
    def line(self) -> int:
        """The line that was caught; 0 where it is not known."""
        return int(self.get("line", 0))

    @property
    def other_line(self) -> int:
        """The line of the earlier access; 0 where it is not known."""
        return int(self.get("other_line", 0))

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's shape; () where it is not known."""
        return tuple(int(n) for n in self.get("shape", ()))

    @property
    def index(self) -> tuple[int, ...]:
        """The index; () where it is not known."""
        index = self.get("index", ())
        return tuple(int(i) for i in (index if isinstance(index, Iterable) else (index,)))

    @property
    def here(self) -> str:
        """` in line 12`, or nothing where the line is not known."""
        return in_line(self.line)

    @property
    def block(self) -> str:
        """` of block 3`, or nothing where the block is not known."""
        blocks = self.get("blocks", ())
        return f" of block {triple(blocks[0])}" if blocks else ""

    @property
    def who(self) -> str:
        """The thread that was caught, as in `thread 3 of block 0`."""
        threads = self.get("threads", ())
        return f"thread {triple(threads[0])}{self.block}" if threads else "a thread"

    @property
    def same_block(self) -> bool:
        """Whether both threads are known to be of one block, or only one block is known."""
        blocks = self.get("blocks", ())
        if self.get("elsewhere", False):
            return False
        return len(blocks) < 2 or tuple(blocks[0]) == tuple(blocks[1])

    @property
    def update(self) -> str:
        """The atomic that does what the line that was caught does, as in `total[0] += x[i]`.

        Empty unless both accesses are those of one such update.
        """
        if self.get("what") != self.get("other_what") or self.line != self.other_line:
            return ""
        return atomic_update(self.get("source"), self.get("what"))

    @property
    def pair(self) -> tuple[str, str]:
        """The earlier thread and the one that was caught, in this order."""
        threads, blocks = self.get("threads", ()), self.get("blocks", ())
        if threads and self.get("elsewhere", False):
            return "a thread of another block", self.who
        if len(threads) < 2:
            return "one thread", "another thread"
        late, early = triple(threads[0]), triple(threads[1])
        if not blocks:
            return f"thread {early}", f"thread {late}"
        if self.same_block:
            together = "warp" if self.get("same_warp", False) else "block"
            return f"thread {early} of block {triple(blocks[0])}", (
                f"thread {late} of the same {together}"
            )
        return (
            f"thread {early} of block {triple(blocks[1])}",
            f"thread {late} of block {triple(blocks[0])}",
        )

    def quoted(self, default: str) -> str:
        """Return the text of the call or expression between backticks."""
        return f"`{self.get('what', default)}`"


def triple(values: Iterable[int]) -> str:
    """Write a thread or a block with as few axes as it needs.

    >>> triple((5, 0, 0)), triple((5, 2, 0)), triple((0, 0, 1))
    ('5', '(5, 2)', '(0, 0, 1)')
    """
    numbers = [int(value) for value in values] or [0]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    text = ", ".join(map(str, numbers))
    return text if len(numbers) == 1 else f"({text})"


def name_element(array: str, index: int | Iterable[int]) -> str:
    """Write an element of an array.

    >>> name_element("tile", (2, 3)), name_element("", (7,)), name_element("tile", ())
    ('tile[2, 3]', 'element 7', 'an element of tile')
    """
    numbers = list(index) if isinstance(index, Iterable) else [index]
    at = ", ".join(str(int(i)) for i in numbers)
    if not at:
        return f"an element of {array}" if array else "an element"
    return f"{array}[{at}]" if array else f"element {at}"


def in_line(line: int) -> str:
    """Return ` in line 12`, or nothing for line 0."""
    return f" in line {line}" if line else ""


def listed_lines(lines: list[int]) -> str:
    """Name several lines.

    >>> listed_lines([7]), listed_lines([7, 9, 12])
    ('line 7', 'lines 7, 9 and 12')
    """
    *first, last = map(str, lines)
    return f"lines {', '.join(first)} and {last}" if first else f"line {last}"


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop.

    >>> sentence("thread 3 reads it")
    'Thread 3 reads it.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('. ')}."


def one_line(text: Any) -> str:
    """Return text on one line, without a full stop at its end."""
    return " ".join(str(text).split()).rstrip(".")


def some(count: Any, noun: str, many: str = "") -> str:
    """Write a number and its noun.

    >>> some(1, "element"), some(3, "element")
    ('1 element', '3 elements')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {many or noun + 's'}"


def _numbers(numbers: Any) -> str:
    if isinstance(numbers, Iterable) and not isinstance(numbers, str):
        return ", ".join(str(int(number)) for number in numbers)
    return str(numbers)


def listed(noun: str, numbers: Any) -> str:
    """Write which threads or lanes, given as text such as "0-15" or as numbers.

    >>> listed("lane", "5"), listed("lane", "16-31"), listed("lane", (3, 4))
    ('lane 5', 'lanes 16-31', 'lanes 3, 4')
    """
    text = _numbers(numbers)
    return f"{noun} {text}" if text.isdigit() else f"{noun}s {text}"


def agreeing(numbers: Any, one: str, many: str) -> str:
    """Return the agreeing form that agrees with what `listed` writes.

    >>> agreeing("5", "does", "do"), agreeing("16-31", "does", "do")
    ('does', 'do')
    """
    return one if _numbers(numbers).isdigit() else many


def parsed(text: Any) -> ast.AST | None:
    """Return the tree of an expression or of a statement, or None for other text."""
    try:
        (found,) = ast.parse(str(text)).body
    except (SyntaxError, ValueError):
        return None
    return found.value if isinstance(found, ast.Expr) else found


def segment(text: Any, node: ast.AST) -> str:
    """Return how a part of a text is written; `node` is of its tree.

    >>> segment("x [i,0.]", parsed("x [i,0.]").slice)
    'i,0.'
    """
    return ast.get_source_segment(str(text), node) or ""


_ATOMICS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}


def atomic_update(source: Any, element: Any) -> str:
    """Return the atomic that does what a line of code does to an element; "" if none does.

    >>> atomic_update("if i < n: total[0] += x[i]", "total[0]")
    'cuda.atomic.add(total, 0, x[i])'
    >>> atomic_update("h[b, c] = h[b, c] + 1", "h[b, c]"), atomic_update("s[i] += s[i + 1]", "s[j]")
    ('cuda.atomic.add(h, (b, c), 1)', '')
    >>> atomic_update("tile[tid] += tile[tid + step]", "tile[tid]")
    ''
    """
    source = str(source).strip()
    try:
        lines = ast.parse(source)
    except (SyntaxError, ValueError):
        return ""
    for s in ast.walk(lines):
        if isinstance(s, ast.AugAssign):
            target, op, value = s.target, s.op, s.value
        elif isinstance(s, ast.Assign) and isinstance(s.value, ast.BinOp):
            target, op, value = s.targets[0], s.value.op, s.value.right  # type: ignore[assignment]
            if ast.unparse(s.value.left) != ast.unparse(target):
                continue
        else:
            continue
        if isinstance(target, ast.Subscript) and segment(source, target) == element:
            at = segment(source, target.slice)
            at = f"({at})" if isinstance(target.slice, ast.Tuple) and at[0] != "(" else at
            name = _ATOMICS.get(type(op))
            array = segment(source, target.value)
            if ast.unparse(target.value) in map(ast.unparse, ast.walk(value)):
                return ""  # a tree: another element is added
            return f"cuda.atomic.{name}({array}, {at}, {segment(source, value)})" if name else ""
    return ""


def within_atomic(source: Any) -> tuple[str, str] | None:
    """Return the atomic of a line, and the element of its own array that is passed to it.

    >>> within_atomic("cuda.atomic.add(h, b[i], h[b[i]] + 1)")
    ('cuda.atomic.add', 'h[b[i]]')
    >>> within_atomic("if i < n: cuda.atomic.add(h, b[i], 1)")
    """
    source = str(source).strip()
    try:
        lines = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    for call in (n for n in ast.walk(lines) if isinstance(n, ast.Call) and len(n.args) > 2):
        name = segment(source, call.func)
        for node in (n for value in call.args[2:] for n in ast.walk(value)):
            same = isinstance(node, ast.Subscript) and segment(source, node.value) == segment(
                source, call.args[0]
            )
            if same and ".atomic." in name:
                return name, segment(source, node)
    return None


def index_text(what: Any, axis: int) -> str:
    """Return how the source writes the index of one axis, or `...`.

    >>> index_text("x[row, col + 1]", 1), index_text("x[place]", 1), index_text("p[i]['x']", 0)
    ('col + 1', '...', 'i')
    """
    tree = parsed(what)
    while isinstance(tree, ast.Attribute) or (
        isinstance(tree, ast.Subscript) and isinstance(getattr(tree.slice, "value", 0), str)
    ):
        tree = tree.value  # a field of a record
    if not isinstance(tree, ast.Subscript):
        return "..."
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    return segment(what, parts[axis]) if axis < len(parts) else "..."


def index_from_end(text: str, size: str) -> str:
    """Return an index that is a negative number as it counts from the start; "" for another.

    >>> index_from_end("-1", "p.shape[1]"), index_from_end("i - 1", "p.shape[0]")
    ('p.shape[1] - 1', '')
    """
    number = text.removeprefix("-")
    return f"{size} - {number}" if number != text and number.isdigit() else ""
