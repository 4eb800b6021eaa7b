"""Parse machine code (SASS) as nvdisasm writes it, and count its instructions by group.

SASS has no published grammar; what is parsed here is the same from compute capability 7.5 to 10.0:
an address in a comment, an optional predicate, an opcode with modifiers after dots, operands,
a semicolon. NVIDIA's "CUDA Binary Utilities" lists the opcodes ("Instruction Set Reference").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+([^;]+?)\s*;")
_LABEL = re.compile(r"^(\.L_\w+):")
_PLACE = re.compile(r'//## File "(.*?)", line (\d+)')
_PREDICATE = re.compile(r"^@!?U?P\w+\s+")
_TARGET = re.compile(r"`\((\.L_\w+)\)")

# Instruction groups by the prefix of the opcode; the first that matches.
GROUPS = {
    "tensor": ("HMMA", "HGMMA", "IMMA", "QGMMA", "UTCHMMA"),
    "FFMA": ("FFMA",),
    "float32": ("FADD", "FMUL", "FSETP", "FMNMX", "FSEL", "FCHK", "FSWZ", "MUFU"),
    "half": ("HADD", "HMUL", "HFMA", "HSETP", "HMNMX"),
    "global": ("LDG", "STG", "LD.", "ST.", "ATOMG", "ATOM.", "RED", "UTMALDG", "LDGSTS"),
    "shared": ("LDS", "STS", "ATOMS"),
    "local": ("LDL", "STL"),
    "barrier": ("BAR", "WARPSYNC", "SYNCS", "MEMBAR"),
    "shuffle": ("SHFL", "VOTE", "MATCH", "REDUX"),
    "branch": ("BRA", "BRX", "BSSY", "BSYNC", "CALL", "RET", "EXIT", "JMP"),
}
_DOUBLE = re.compile(
    r"^(DADD|DMUL|DFMA|DSETP|DMNMX)\b|^MUFU\.\w+64H|^(F2F|F2I|I2F|F2FP|I2FP)\b.*\.F64|^DMMA"
)


@dataclass(frozen=True)
class Instruction:
    """One instruction: its address, its text, and the source line that it comes from."""

    address: int
    text: str
    file: str = ""
    line: int = 0
    target: int | None = None

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers, without predicate and operands.

        >>> Instruction(0, "@!P0 LDG.E.128 R4, desc[UR4][R2.64]").opcode
        'LDG.E.128'
        """
        return _PREDICATE.sub("", self.text).split()[0]

    @property
    def double(self) -> bool:
        """Whether it computes in float64 or converts from or to it."""
        return _DOUBLE.search(self.opcode) is not None


def parse(listing: str) -> list[Instruction]:
    """Return the instructions of a listing; targets of branches are addresses.

    The padding after the last instruction (a branch to itself, then NOPs) is left out.
    """
    labels: dict[str, int] = {}
    found: list[tuple[int, str, str, int]] = []
    waiting: list[str] = []
    file, line = "", 0
    for written in listing.splitlines():
        label, place = _LABEL.match(written), _PLACE.search(written)
        instruction = _INSTRUCTION.search(written)
        if label:
            waiting.append(label[1])
        elif place:
            file, line = place[1], int(place[2])
        elif instruction:
            address = int(instruction[1], 16)
            labels.update(dict.fromkeys(waiting, address))
            waiting.clear()
            found.append((address, " ".join(instruction[2].split()), file, line))
    made = [
        Instruction(address, text, file, line, _target(text, labels))
        for address, text, file, line in found
    ]
    return [one for one in made if one.opcode != "NOP" and one.target != one.address]


def _target(text: str, labels: dict[str, int]) -> int | None:
    named = _TARGET.search(text)
    return labels.get(named[1]) if named and "BRA" in text else None


def main_loop(code: Sequence[Instruction], group: str = "FFMA") -> list[Instruction]:
    """Return the loop with the most instructions of a group, the shortest of them; else nothing.

    A loop is the code from the target of a backward branch to the branch.
    """
    bodies = [
        [one for one in code if back.target <= one.address <= back.address]
        for back in code
        if back.target is not None and back.target <= back.address
    ]
    return max(bodies, key=lambda body: (mix(body)[group], -len(body)), default=[])


def mix(code: Sequence[Instruction]) -> Counter[str]:
    """Return how many instructions of each group there are; `integer` are all the others."""
    return Counter(group_of(one.opcode) for one in code)


def opcodes(code: Sequence[Instruction], group: str) -> dict[str, int]:
    """Return the count of each opcode of one group, without modifiers."""
    names = (one.opcode for one in code if group_of(one.opcode) == group)
    return dict(Counter(name.partition(".")[0] for name in names))


def group_of(opcode: str) -> str:
    """Return the group of an opcode.

    >>> group_of("LDG.E.128"), group_of("IMAD.WIDE"), group_of("DFMA")
    ('global', 'integer', 'double')
    """
    if _DOUBLE.search(opcode):
        return "double"
    for group, beginnings in GROUPS.items():
        if opcode.startswith(beginnings):
            return group
    return "integer"


def wide_accesses(code: Sequence[Instruction]) -> Counter[str]:
    """Return how many accesses move 16 bytes per thread, by opcode: LDG, STG, LDS, STS."""
    return Counter(
        one.opcode.partition(".")[0]
        for one in code
        if group_of(one.opcode) in ("global", "shared") and ".128" in one.opcode
    )
