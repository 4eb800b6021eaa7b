"""Situations: a command, its exit code, and words that its output must contain.

Each situation is one entry; its obstacle is a function of `obstacles`.
"""

from tests.situations.obstacles import EXERCISE, NAMED, Situation

SITUATIONS = [
    # ---- a file cannot be written ----
    Situation(
        "page of a check in what is no folder",
        "check --html blocked/a.html script.py",
        3,
        ("cannot write blocked/a.html", "a file, not a folder"),
        never=("no findings",),
    ),
    Situation(
        "report of a check in a folder that is not there",
        "check --junit new/a.xml script.py",
        3,
        ("cannot write new/a.xml", "Make the folder new first"),
    ),
    Situation(
        "page of a check under the name of a folder",
        "check --html taken script.py",
        3,
        ("cannot write taken: is a directory", "name a file in it"),
    ),
    Situation(
        "page of a check in a read-only folder",
        "check --html old.html script.py",
        3,
        ("cannot write old.html: permission denied", "may write to"),
        "read_only",
    ),
    Situation(
        "page of a check on a full disk",
        "check --html old.html script.py",
        3,
        ("No findings", "cannot write old.html", "Make room on its disk"),
        "full_disk",
    ),
    Situation(
        "pages to play in what is no folder",
        "play --folder blocked/pages script.py",
        3,
        ("cannot write blocked/pages",),
        never=("Nothing was recorded",),
    ),
    Situation(
        "pages to play in a read-only folder",
        "play script.py",
        3,
        ("cannot write gpukit-play: permission denied",),
        "read_only",
        never=("Nothing was recorded",),
    ),
    Situation(
        "pages to play on a full disk",
        "play script.py",
        3,
        ("cannot write gpukit-play/01_fill_kernel.html", "Make room"),
        "full_disk",
        never=("Nothing was recorded", "stopped with an error"),
    ),
    Situation(
        "page to play in the place of another file",
        "play --folder taken script.py",
        3,
        ("exists and is not a page of fill_kernel", "Choose another name"),
        never=("Nothing was recorded",),
    ),
    Situation(
        "first test in a read-only clone",
        f"test {EXERCISE}",
        3,
        ("cannot write", "answer.py: permission denied", "gpukit start FOLDER"),
        "no_answer",
    ),
    Situation(
        "first test in a read-only clone, as JSON",
        f"test {EXERCISE} --json",
        3,
        ("cannot write",),
        "no_answer",
    ),
    Situation(
        "reset in a read-only clone",
        f"reset {EXERCISE}",
        3,
        ("answer.old1.py: permission denied", "gpukit start FOLDER"),
        "read_only",
    ),
    Situation(
        "reset on a full disk",
        f"reset {EXERCISE}",
        3,
        ("cannot write", "Make room on its disk"),
        "full_disk",
    ),
    Situation(
        "checkpoint of a script that is run",
        "run training.py",
        3,
        ("cannot write blocked/weights.npz", "a file, not a folder"),
    ),
    Situation(
        "checkpoint of a script that is checked",
        "check training.py",
        3,
        ("cannot write blocked/weights.npz",),
        never=("global-race",),
    ),
    Situation(
        "plot of a benchmark in what is no folder",
        "bench --plot blocked/a.png saxpy",
        3,
        ("cannot write blocked/a.png",),
    ),
    Situation(
        "plot of a benchmark as no picture", "bench --plot a.xyz saxpy", 2, ("got 'a.xyz'", ".png")
    ),
    Situation(
        "plot of a benchmark without matplotlib",
        "bench --plot a.png saxpy",
        2,
        ("expected matplotlib for --plot, got none", "pip install matplotlib"),
        "no_matplotlib",
    ),
    Situation(
        "figures for a README that is not there",
        "bench --write",
        2,
        ("expected README.md in this folder, got none", "Go to your clone"),
        "no_readme",
    ),
    Situation(
        "figures for a read-only README",
        "bench --write",
        3,
        ("cannot write README.md: permission denied",),
        "read_only",
    ),
    Situation(
        "result of codegen in what is no folder",
        "codegen --write blocked/a.json fill",
        3,
        ("cannot write blocked/a.json",),
    ),
    Situation(
        "a folder that was deleted",
        "list",
        3,
        ("the current folder no longer exists",),
        "folder_gone",
    ),
    # ---- arguments that do not exist, or in the wrong place ----
    Situation(
        "a command that is misspelt", f"tset {EXERCISE}", 2, ("got 'tset'", "Did you mean test?")
    ),
    Situation("a command that is none", "xyzzy", 2, ("got 'xyzzy'", "Available:", "doctor")),
    Situation(
        "an option that is misspelt",
        "bench --simulater",
        2,
        ("--simulater", "Did you mean --simulator?"),
    ),
    Situation("an exercise that is misspelt", "test garded_map", 2, ("Did you mean guarded_map?",)),
    Situation(
        "our option after the script",
        "check script.py --json",
        0,
        ("--json comes after script.py", "gpukit check --json"),
    ),
    Situation(
        "our option with a value after the script",
        "check script.py --html=a.html",
        0,
        ("--html comes after script.py",),
    ),
    Situation(
        "an option that the script has too",
        "check own_json.py --json",
        0,
        ("No findings",),
        never=("comes after",),
    ),
    Situation(
        "an option after two dashes",
        "check script.py -- --json",
        0,
        ("No findings",),
        never=("comes after",),
    ),
    Situation(
        "PTX of a file without the compiler",
        "ptx script.py::fill_kernel",
        3,
        ("GPU compiler is not installed", "pip install"),
        "no_compiler",
    ),
    Situation(
        "PTX of the book without the compiler",
        "ptx saxpy",
        3,
        ("GPU compiler is not installed", "pip install"),
        "no_compiler",
    ),
    Situation(
        "machine code of a file that is not there",
        "sass nowhere.py::k",
        2,
        ("sass: expected a Python script, got 'nowhere.py'",),
    ),
    # ---- invalid input files ----
    Situation(
        "checkpoint that is cut off",
        "run fitting.py",
        1,
        ("saved.npz: expected a checkpoint", "The file is kept", "rename it or name another one"),
        "cut_checkpoint",
    ),
    Situation(
        "checkpoint that is empty",
        "check fitting.py",
        1,
        ("saved.npz: expected a checkpoint", "The file is kept"),
        "empty_checkpoint",
    ),
    Situation(
        "checkpoint that is text",
        "run fitting.py",
        1,
        ("saved.npz: expected a checkpoint", "The file is kept"),
        "text_checkpoint",
    ),
    Situation(
        "checkpoint of another network",
        "run fitting.py",
        1,
        ("saved.npz", "expected weight of shape (2, 2), got (3, 2)", "The file is kept"),
        "wider_checkpoint",
    ),
    Situation(
        "checkpoint of another optimizer",
        "run fitting.py",
        1,
        ("saved.npz", "expected the state of SGD", "with the same optimizer", "The file is kept"),
        "other_optimizer",
    ),
    Situation(
        "cases of an exercise with a fault",
        f"test {EXERCISE}",
        2,
        ("cases.py:5", f"the cases of {EXERCISE} cannot be created: IndexError", "not the cause"),
        "faulty_cases",
    ),
    Situation(
        "cases of an exercise with a fault, as JSON",
        f"test {EXERCISE} --json",
        2,
        ("cases.py:5", "not the cause"),
        "faulty_cases",
    ),
    Situation(
        "answer in a notebook that is cut off",
        f"test {EXERCISE} --file cut_off.ipynb",
        2,
        ("cut_off.ipynb: expected a notebook",),
    ),
    Situation("script with a byte order mark", "check bom.py", 0, ("No findings",)),
    Situation(
        "script in another encoding",
        "check latin.py",
        2,
        ("check: expected a Python script in UTF-8, got 'latin.py'", "Save it as UTF-8"),
    ),
    Situation(
        "script in another encoding that is run",
        "run latin.py",
        2,
        ("run: expected a Python script in UTF-8", "coding: latin-1"),
    ),
    Situation(
        "script with a syntax error",
        "profile syntax.py",
        1,
        ("Nothing was counted", "syntax.py", "SyntaxError"),
    ),
    Situation(
        "script whose name has a space and an accent",
        f"check '{NAMED}'",
        0,
        ("caf\u00e9", "No findings"),
    ),
    # ---- the terminal ----
    Situation(
        "accents on a terminal of ASCII", f"check '{NAMED}'", 0, ("caf\\xe9",), "ascii_terminal"
    ),
    Situation("table in 40 columns", "list", 0, ("guarded_map", "10 of 10 points"), "narrow"),
    Situation("report in 40 columns", "check script.py", 0, ("No findings",), "narrow"),
    # ---- no network ----
    Situation("check offline", "check script.py", 0, ("No findings",), "offline"),
    Situation("player offline", "play --folder pages script.py", 0, ("wrote pages",), "offline"),
    Situation("doctor offline", "doctor", 0, ("kernels run on the",), "offline"),
    Situation(
        "exercise offline", f"test {EXERCISE}", 0, ("10 of 10 points",), "offline_with_solution"
    ),
    # ---- the cache ----
    Situation(
        "no place for the cache", "check script.py", 0, ("No findings",), "no_place_for_the_cache"
    ),
    Situation(
        "no place for the cache, by the doctor",
        "doctor",
        0,
        ("note cache-read-only", "GPUKIT_CACHE_DIR"),
        "no_place_for_the_cache",
    ),
    Situation("no home", "check script.py", 0, ("No findings",), "no_home"),
    Situation(
        "garbage in the cache", "check script.py", 0, ("No findings",), "garbage_in_the_cache"
    ),
    # ---- Ctrl-C ----
    *(
        Situation(
            f"Ctrl-C as {moment}: {command}", command, 130, ("stopped",), f"Ctrl-C as {moment}"
        )
        for command, moment in (
            ("list", "the command line is read"),
            ("check script.py", "a kernel is compiled"),
            ("profile script.py", "a kernel is compiled"),
            ("play script.py", "a kernel is compiled"),
            ("run script.py", "a kernel is compiled"),
            ("check script.py", "a script is launched"),
            ("profile script.py", "a script is launched"),
            ("run script.py", "a script is launched"),
            ("check --html old.html script.py", "a file is written"),
            ("play script.py", "a file is written"),
            (f"test {EXERCISE}", "an answer is loaded"),
            (f"test {EXERCISE}", "an answer is judged"),
            (f"reset {EXERCISE}", "an answer is set aside"),
            (f"reset {EXERCISE}", "a file is written"),
            ("bench saxpy", "kernels are chosen"),
        )
    ),
]
