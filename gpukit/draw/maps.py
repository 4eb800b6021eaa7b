"""Maps of one request of a warp: the sectors of global memory, the banks of shared memory.

Both draw a `Pattern` (`gpukit.checked.profile.pattern`): one of a profile, or one made by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from gpukit.checked.profile.pattern import BANKS, SECTOR, WORD, Pattern
from gpukit.draw import style

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

WARP = 32
# Neighbouring sectors differ in colour and in hatching.
_HATCHES = ("", "///", "...", "\\\\\\", "xxx")
_UNUSED, _CONFLICT = "#D5DBE3", "#F2A37B"
_GAP = 6  # width in bytes of the gap between sectors that are apart
_SECTORS_WITH_TEXT, _SECTORS_WITH_NAMES = 8, 10


def address_map(what: Profile | Pattern, access: Any = None) -> Figure:
    """Draw which bytes of which sectors the lanes of a warp access in one request.

    `what` is a profile, with one of its accesses (else the one that moves most sectors per
    request), or a pattern. It is the most expensive request of that access in the launch.
    """
    pattern = _pattern("address_map", what, access, "global")
    left = _places(pattern.sectors)
    width = left[pattern.sectors[-1]] + SECTOR
    with style.house():
        fig, axes = style.figure(min(12.0, max(7.0, 0.052 * width + 2)), 7.4)
        for number, sector in enumerate(pattern.sectors):
            _sector(axes, pattern, left[sector], number)
        for lane, at in zip(pattern.lanes, pattern.offsets, strict=True):
            _element(axes, pattern, lane, at, left)
        _lane_axis(axes)
        axes.set_xlim(-2, width + 2)
        axes.xaxis.tick_top()
        every = -(-len(pattern.sectors) // 16)
        named = pattern.sectors[::every]
        axes.set_xticks(
            [left[s] for s in named],
            [f"{s * SECTOR:,}" for s in named],
            fontsize=9,
            rotation=0 if len(named) <= _SECTORS_WITH_NAMES else 60,
            ha="left",
        )
        axes.set_xlabel("byte at which the sector begins", fontsize=10)
        axes.xaxis.set_label_position("top")
        fig.suptitle(_address_title(pattern), x=0.01, ha="left", fontweight="bold", fontsize=13)
        style.legend(fig, handles=_address_keys(pattern), ncols=2, fontsize=9)
    return fig


def address_map_in_words(what: Profile | Pattern, access: Any = None) -> str:
    """Describe what `address_map` draws, for its alt text."""
    p = _pattern("address_map_in_words", what, access, "global")
    step = p.step
    mostly = "" if p.regular else "mostly "
    apart = "" if step is None else f", {mostly}{_bytes(abs(step))} from one lane to the next"
    moved, asked = SECTOR * len(p.sectors), _asked(p)
    used = "all" if asked == moved else _bytes(asked)
    return (
        f"{_address_title(p)}. {len(p.lanes)} lanes request {_bytes(p.size)} each{apart}; "
        f"{_bytes(moved)} are moved, and {used} of them are used. "
        f"The sectors begin at byte {_some([s * SECTOR for s in p.sectors])}."
    )


def bank_map(what: Profile | Pattern, access: Any = None) -> Figure:
    """Draw which of the 32 banks of shared memory each lane accesses in one request, and conflicts.

    `what` is a profile, with one of its accesses (else the one with the worst conflict), or a
    pattern. It is the most expensive request of that access in the launch.
    """
    pattern = _pattern("bank_map", what, access, "shared")
    with style.house():
        fig, axes = style.figure(9.6, 8.6)
        for bank in range(BANKS + 1):
            axes.axvline(bank - 0.5, color=_UNUSED, lw=0.8, zorder=0)
        for lane in range(WARP + 1):
            axes.axhline(lane - 0.5, color=_UNUSED, lw=0.8, zorder=0)
        for members in pattern.phases:
            _phase(axes, pattern, members)
        _lane_axis(axes)
        axes.set_xlim(-0.6, BANKS - 0.4)
        axes.set_xticks(range(BANKS), [f"{b}" for b in range(BANKS)], fontsize=8)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("bank", fontsize=10)
        axes.set_aspect("auto")
        fig.suptitle(_bank_title(pattern), x=0.01, ha="left", fontweight="bold", fontsize=13)
        style.legend(fig, handles=_bank_keys(pattern), ncols=1, fontsize=9)
    return fig


def bank_map_in_words(what: Profile | Pattern, access: Any = None) -> str:
    """Describe what `bank_map` draws, for its alt text."""
    p = _pattern("bank_map_in_words", what, access, "shared")
    words = [f"{_bank_title(p)}. {len(p.lanes)} lanes request {_bytes(p.size)} each."]
    for members in p.phases:
        banks = p.words(members)
        most = max(map(len, banks.values()))
        full = [bank for bank, wanted in banks.items() if len(wanted) == most]
        who = f"lanes {p.lanes[members[0]]} to {p.lanes[members[-1]]}"
        if most > 1:
            banks_have = (
                f"Bank {full[0]} has" if len(full) == 1 else f"Banks {_some(full)} each have"
            )
            words.append(f"{banks_have} to deliver {most} different words to {who}.")
        else:
            words.append(f"No bank has to deliver more than one word to {who}.")
    return " ".join(words)


# ---- which request -------------------------------------------------------------------------------


def _pattern(function: str, what: Profile | Pattern, access: Any, space: str) -> Pattern:
    pattern = what if isinstance(what, Pattern) else _of_profile(function, what, access, space)
    if pattern is None or not pattern.lanes:
        raise ValueError(f"{function}: expected a request, got an access that no lane made.")
    if pattern.space != space:
        other = {"shared": "bank_map", "global": "address_map"}.get(pattern.space)
        advice = f"Use {other} for it." if other else "That memory has no map."
        raise ValueError(
            f"{function}: expected an access of {space} memory, got {pattern.text!r} of "
            f"{pattern.space} memory. {advice}"
        )
    return pattern


def _of_profile(function: str, profile: Profile, access: Any, space: str) -> Pattern | None:
    if access is not None:
        return profile.pattern(access)
    there = [a for a in profile.accesses if a.space == space]
    if not there:
        raise ValueError(
            f"{function}: expected a kernel that uses {space} memory, got {profile.kernel}. "
            "Name one of its accesses, or profile another kernel."
        )
    return profile.pattern(max(there, key=lambda a: (a.worst, a.size)))


def _name(pattern: Pattern) -> str:
    """Name a request; a profile keeps the first of the most expensive of each access."""
    if pattern.line:
        return f"The costliest request of {pattern.text} in line {pattern.line}"
    return f"One request for {pattern.text}" if pattern.text else "One request"


def _bytes(count: int) -> str:
    return f"{count:,} byte{'' if count == 1 else 's'}"


def _some(numbers: list[int]) -> str:
    """List numbers; of many only the first ones and the last.

    >>> _some([0, 32]), _some(list(range(0, 320, 32)))
    ('0, 32', '0, 32, 64, ..., 288')
    """
    names = [f"{n:,}" for n in numbers]
    return ", ".join(names if len(names) <= 8 else [*names[:3], "...", names[-1]])


def _lane_axis(axes: Any) -> None:
    axes.set_ylim(WARP - 0.4, -0.6)
    axes.set_yticks(range(WARP), [f"{lane}" for lane in range(WARP)], fontsize=8)
    axes.set_ylabel("lane of the warp", fontsize=10)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


# ---- addresses -----------------------------------------------------------------------------------


def _places(sectors: list[int]) -> dict[int, int]:
    """Return where each sector is drawn: neighbours touch, others have a gap between them."""
    left, at = {}, 0
    for before, sector in zip([None, *sectors], sectors, strict=False):
        at += 0 if before is None else SECTOR + (0 if sector == before + 1 else _GAP)
        left[sector] = at
    return left


def _look(number: int) -> dict[str, Any]:
    return {"fc": style.FILLS[number % len(style.FILLS)], "hatch": _HATCHES[number % len(_HATCHES)]}


def _sector(axes: Any, pattern: Pattern, left: int, number: int) -> None:
    """Draw a sector as a grey column between two lines."""
    axes.add_patch(Rectangle((left, -0.5), SECTOR, WARP, fc=_UNUSED, ec=style.PAPER, lw=1.2))
    for lane in range(1, WARP):
        axes.plot([left, left + SECTOR], [lane - 0.5] * 2, color=style.PAPER, lw=0.8)
    axes.plot([left, left], [-0.5, WARP - 0.5], color=style.FAINT, lw=0.8)
    axes.plot([left + SECTOR] * 2, [-0.5, WARP - 0.5], color=style.FAINT, lw=0.8)
    if len(pattern.sectors) <= _SECTORS_WITH_TEXT:
        axes.text(
            left + SECTOR / 2,
            WARP - 0.1,
            f"sector {number + 1}",
            ha="center",
            va="top",
            fontsize=9,
            clip_on=False,
        )


def _element(axes: Any, pattern: Pattern, lane: int, at: int, left: dict[int, int]) -> None:
    """Draw the element of one lane; one that crosses a sector boundary has two parts."""
    end = at + pattern.size
    for number, sector in enumerate(pattern.sectors):
        low, high = max(at, sector * SECTOR), min(end, (sector + 1) * SECTOR)
        if low < high:
            x = left[sector] + low - sector * SECTOR
            axes.add_patch(
                Rectangle(
                    (x, lane - 0.44),
                    high - low,
                    0.88,
                    ec=style.INK,
                    lw=0.7,
                    zorder=3,
                    **_look(number),
                )
            )


def _asked(pattern: Pattern) -> int:
    """Return how many distinct bytes the lanes access."""
    return len({b for at in pattern.offsets for b in range(at, at + pattern.size)})


def _address_title(pattern: Pattern) -> str:
    count = len(pattern.sectors)
    least = -(-_asked(pattern) // SECTOR)
    sectors = f"{count} sector{'' if count == 1 else 's'}"
    rest = f", ideal: {least}" if least < count else ", the minimum"
    return f"{_name(pattern)} touches {sectors}{rest}"


def _address_keys(pattern: Pattern) -> list[Patch]:
    used = 100 * _asked(pattern) / (SECTOR * len(pattern.sectors))
    keys = [
        Patch(
            ec=style.INK, label="what a lane requests; colour and hatching: its sector", **_look(1)
        ),
        Patch(
            fc=_UNUSED,
            ec=style.FAINT,
            label=f"a sector of {SECTOR} bytes, moved as a whole: {used:.3g} % is used",
        ),
    ]
    if pattern.sectors[-1] - pattern.sectors[0] >= len(pattern.sectors):
        keys.append(
            Patch(fc=style.PAPER, ec=style.FAINT, label="a gap: what lies between is not drawn")
        )
    return keys


# ---- banks ---------------------------------------------------------------------------------------


def _phase(axes: Any, pattern: Pattern, members: list[int]) -> None:
    """Draw the lanes that access the banks together: in each cell the wavefront that serves it."""
    banks = pattern.words(members)
    for k in members:
        first, last = pattern.offsets[k] // WORD, (pattern.offsets[k] + pattern.size - 1) // WORD
        for word in range(first, last + 1):
            bank = word % BANKS
            clash = len(banks[bank]) > 1
            axes.add_patch(
                Rectangle(
                    (bank - 0.5, pattern.lanes[k] - 0.5),
                    1,
                    1,
                    ec=style.INK,
                    lw=0.7,
                    zorder=2,
                    fc=_CONFLICT if clash else style.SKY,
                    hatch="////" if clash else "",
                )
            )
            axes.text(
                bank,
                pattern.lanes[k],
                banks[bank].index(word) + 1,
                ha="center",
                va="center",
                fontsize=7.5,
                zorder=3,
                fontweight="bold" if clash else "normal",
                bbox={"fc": _CONFLICT, "ec": "none", "pad": 0.6} if clash else None,
            )
    top = min(pattern.lanes[k] for k in members)
    if len(pattern.phases) > 1 and top:
        axes.axhline(top - 0.5, color=style.INK, lw=2.5, zorder=4)


def _bank_title(pattern: Pattern) -> str:
    least = len(pattern.phases)
    rest = "no bank conflict" if pattern.wavefronts == least else f"ideal: {least}"
    count = f"{pattern.wavefronts} wavefront{'' if pattern.wavefronts == 1 else 's'}"
    return f"{_name(pattern)} takes {count}, {rest}"


def _bank_keys(pattern: Pattern) -> list[Patch]:
    wanted = [len(w) for part in pattern.phases for w in pattern.words(part).values()]
    keys = []
    if min(wanted) == 1:
        keys.append(
            Patch(fc=style.SKY, ec=style.INK, label="the bank delivers one word, in one wavefront")
        )
    if max(wanted) > 1:
        keys.append(
            Patch(
                fc=_CONFLICT,
                ec=style.INK,
                hatch="////",
                label=(
                    "a conflict: the lanes access different words of the bank; the number is the "
                    "wavefront"
                ),
            )
        )
    if len(pattern.phases) > 1:
        keys.append(
            Patch(
                fc=style.INK,
                label=(
                    "between the lines: lanes that go together, as elements of "
                    f"{pattern.size} bytes do"
                ),
            )
        )
    return keys
