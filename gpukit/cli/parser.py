"""The options of the command line, and the function behind each command."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import gpukit
from gpukit.cli import argument_types, teacher_options
from gpukit.cli.codes import MISUSE

_EXIT_CODES = (
    "Exit codes: 0 success, 1 an error was found or a test fails, 2 usage error, 3 problem of the "
    "machine."
)
_FINDINGS_CODE = (
    "Exits with 1 if it reports an error; warnings and notes leave the script's own exit code."
)
_TARGETS = "GPUKIT_TARGET=auto|cuda|cpu|checked chooses where kernels run."


class Parser(argparse.ArgumentParser):
    """A parser of options; the top-level one has the parser of each command by its name."""

    commands: dict[str, Parser]

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong with the command line; exit with the code of misuse."""
        from gpukit.cli import show

        self.print_usage(sys.stderr)
        show.error(message, self.prog)
        sys.exit(MISUSE)


def build() -> Parser:
    """Return the parser of the whole command line."""
    parser = Parser(
        prog="gpukit",
        description="A GPU classroom that needs no GPU.",
        epilog=f"{_TARGETS} {_EXIT_CODES}",
    )
    version = getattr(gpukit, "__version__", "unknown")
    parser.add_argument("--version", action="version", version=f"gpukit {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _machine_commands(commands)
    _watch_commands(commands)
    _code_commands(commands)
    _learner_commands(commands)
    teacher_options.add(commands, _add)
    parser.commands = commands.choices
    return parser


def read(line: Parser, argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line, or exit with a suggestion of what was probably meant."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in words if not word.startswith("-")), "")
    if command and command not in line.commands:
        known = list(line.commands)
        line.error(f"expected a command, got {command!r}. {_meant(command, known)}")
    arguments, unknown = line.parse_known_args(words)
    parser = line.commands[command]
    if unknown:
        options = [word for action in parser._actions for word in action.option_strings]
        wrong = next((word for word in unknown if word.startswith("-")), "")
        guess = f". {_meant(wrong.partition('=')[0], options)}" if wrong else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{guess}")
    if "--" not in words:  # which says that all after it is the script's
        _name_misplaced(parser, arguments)
    return arguments


def _meant(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {close[0]}?" if close else f"Available: {', '.join(known)}."


def _name_misplaced(parser: Parser, arguments: argparse.Namespace) -> None:
    """Report options of ours after the script, which receives them all.

    A script that contains an option of that name keeps it.
    """
    given = getattr(arguments, "arguments", [])
    ours = {word for action in parser._actions for word in action.option_strings} - {"--help"}
    after = [word.partition("=")[0] for word in given if word.startswith("--")]
    misplaced = [word for word in dict.fromkeys(after) if word in ours]
    if not misplaced:
        return
    from gpukit.cli import show

    with contextlib.suppress(OSError):
        text = Path(arguments.script).read_text(encoding="utf-8", errors="replace")
        misplaced = [word for word in misplaced if word not in text]
    for word in misplaced:
        show.note(
            f"{word} comes after {arguments.script}, so it is passed to the script. To pass it to "
            f"{parser.prog}, write it before the script: {parser.prog} {word} ... "
            f"{arguments.script}"
        )


def command(name: str) -> Callable[[argparse.Namespace], int]:
    """Import and return the function that runs a command: `machine.doctor`."""
    module, _, function = name.partition(".")
    found: Callable[[argparse.Namespace], int] = getattr(
        importlib.import_module(f"gpukit.cli.{module}"), function
    )
    return found


def _add(commands: Any, name: str, answer: str, text: str, *, json: bool = True) -> Any:
    parser = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
    parser.set_defaults(command=answer)
    if json:
        parser.add_argument("--json", action="store_true", help="print only JSON")
    return parser


def _machine_commands(commands: Any) -> None:
    text = "describe this machine, its problems, and the folders that gpukit writes to"
    _add(commands, "doctor", "machine.doctor", text).add_argument(
        "--clear",
        action="store_true",
        help="empty the caches, which are refilled as needed, and list what was removed",
    )
    bench = _add(commands, "bench", "machine.bench", "time the kernels against NumPy")
    bench.add_argument("names", nargs="*", metavar="NAME", help="a kernel or group (default: all)")
    bench.add_argument("--quick", action="store_true", help="small sizes and short timings")
    bench.add_argument(
        "--seconds",
        type=argument_types.seconds,
        default=None,
        metavar="S",
        help="time to spend on each kernel (default 1, with --quick 0.1)",
    )
    bench.add_argument(
        "--simulator", action="store_true", help="also time Numba's simulator, on small launches"
    )
    bench.add_argument(
        "--gpu",
        metavar="NAME",
        help="add a column: the time of this GPU, recorded or estimated (default: GPUKIT_GPU)",
    )
    bench.add_argument(
        "--plot", metavar="FILE", help="plot the ratios and a roofline to a PNG file"
    )
    bench.add_argument(
        "--write", action="store_true", help="write the table of variants to ./README.md"
    )
    text = "run a Python script in which `from numba import cuda` imports gpukit"
    run = _add(commands, "run", "machine.run", text, json=False)
    _script(run)
    text = "run a script on several ranks, processes that train one model together"
    train = _add(commands, "train", "train.train", text, json=False)
    train.add_argument(
        "--ranks", type=argument_types.count, default=2, metavar="N", help="processes (default 2)"
    )
    train.add_argument(
        "--deadline",
        type=argument_types.seconds,
        metavar="S",
        help="how long a rank waits for another one before all are ended (default 60)",
    )
    train.add_argument(
        "--traceback", action="store_true", help="also print the traceback of the rank that fails"
    )
    _script(train)


def _watch_commands(commands: Any) -> None:
    text = "run a script and check its launches for races, invalid accesses, uninitialized memory"
    check = _add(commands, "check", "watch.check", text)
    check.add_argument("--junit", metavar="FILE", help="also write the findings as JUnit XML")
    check.add_argument("--html", metavar="FILE", help="also write them as an HTML page")
    check.add_argument(
        "--ranks",
        type=argument_types.ranks,
        metavar="N",
        help="check a parallel program: run it on 2 to 8 ranks in turn and compare them",
    )
    text = "run a script and count the memory traffic of its launches, line by line"
    profile = _add(commands, "profile", "watch.profile", text)
    profile.add_argument(
        "--occupancy",
        action="store_true",
        help="compile for GPUs to count registers (needs a cuda extra)",
    )
    text = "run a script and estimate the times of its launches on named GPUs; needs no GPU"
    estimate = _add(commands, "estimate", "watch.estimate", text)
    estimate.add_argument(
        "--gpu",
        action="append",
        metavar="NAME",
        help='a GPU, such as "V100"; may be repeated (default: GPUKIT_GPU, or "RTX 3080")',
    )
    estimate.add_argument(
        "--repeated",
        action="store_true",
        help="for launches that run again and again: what fits in L2 is found there",
    )
    text = "run a script and write HTML pages that step through its launches"
    play = _add(commands, "play", "watch.play", text)
    play.add_argument("--folder", default="gpukit-play", metavar="DIR", help="default: gpukit-play")
    play.add_argument(
        "--launches",
        type=argument_types.count,
        default=5,
        metavar="N",
        help="launches to record (default: 5)",
    )
    check.epilog = play.epilog = _FINDINGS_CODE
    for parser in (check, profile, estimate, play):
        parser.add_argument(
            "--timeout",
            type=argument_types.seconds,
            default=None,
            metavar="S",
            help="stop the script after S seconds, say how far it got, and exit with 1",
        )
        _script(parser)


def _code_commands(commands: Any) -> None:
    for name, language in (("ptx", "PTX"), ("sass", "machine code")):
        text = f"show the {language} of a kernel beside its source; needs no GPU"
        code = _add(commands, name, f"code.{name}", text)
        code.add_argument(
            "kernel",
            metavar="KERNEL",
            help="a kernel of the book, matmul_tiled, or of a file of yours, my.py::my_kernel",
        )
        code.add_argument(
            "--arch",
            type=argument_types.arch,
            default=(9, 0),
            metavar="sm_NN",
            help="target architecture: sm_75, sm_80, sm_90 (the default), sm_100",
        )
    text = "compile the kernels for GPUs; reject register spills, accidental float64, narrow loads"
    gate = _add(commands, "codegen", "code.codegen", text)
    gate.add_argument("names", nargs="*", metavar="NAME", help="a kernel or group (default: all)")
    gate.add_argument(
        "--arch",
        type=argument_types.arch,
        metavar="sm_NN",
        help="compile for this one only (default: all)",
    )
    gate.add_argument("--write", metavar="FILE", help="write the results as JSON")


def _script(parser: Any) -> None:
    parser.add_argument(
        "-m",
        dest="module",
        action="store_true",
        help="SCRIPT.py is the name of a module, as in `python -m`",
    )
    parser.add_argument("script", metavar="SCRIPT.py")
    rest = parser.add_argument(
        "arguments",
        nargs=argparse.REMAINDER,
        metavar="...",
        help="arguments of the script, its sys.argv",
    )
    rest.required = False  # argparse lists them as missing otherwise


def _learner_commands(commands: Any) -> None:
    text = "create a workbook, your own copy of the lessons and exercises, in a folder"
    start = _add(commands, "start", "start.start", text)
    start.add_argument("folder", metavar="FOLDER", help="a new folder, or your workbook")
    start.add_argument(
        "--update",
        action="store_true",
        help="update the files that you have not changed, and list those that are kept",
    )
    # `make lab` opens the workbook itself, and need not say how.
    start.add_argument("--opened", action="store_true", help=argparse.SUPPRESS)
    _add(commands, "list", "learner.list_exercises", "list the exercises and your progress")
    text = "grade your answer to an exercise and explain the result"
    test = _add(commands, "test", "learner.test", text)
    _name(test)
    test.add_argument("--file", metavar="F", help="grade this file, or its cell in a notebook")
    hint = _add(
        commands, "hint", "learner.hint", "show a hint: 1 asks a question, 3 is nearly the answer"
    )
    _name(hint)
    hint.add_argument(
        "number", nargs="?", type=argument_types.number, metavar="N", help="default: the next hint"
    )
    text = "reset your answer to the starter; the old file and your best grade are kept"
    _name(_add(commands, "reset", "learner.reset", text))


def _name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="an exercise, as listed by `gpukit list`")
