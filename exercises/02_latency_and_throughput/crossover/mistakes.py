"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Where pairs is 0 the speedup is 0: the CPU needs no time, the GPU its launch.": [
        (
            "cpu = pairs[i] * CPU_SECONDS",
            "many = max(pairs[i], 1)\n        cpu = many * CPU_SECONDS",
        ),
        ("pairs[i] * GPU_SECONDS", "many * GPU_SECONDS"),
    ],
    "The launch is left out: then every size has the same speedup.": [("LAUNCH + pairs", "pairs")],
    "The ratio is upside down: it is the GPU's time divided by the CPU's.": [
        ("cpu / gpu", "gpu / cpu")
    ],
    "The launch is paid for each pair; it is paid once.": [
        ("LAUNCH + pairs[i] * GPU_SECONDS", "pairs[i] * (LAUNCH + GPU_SECONDS)")
    ],
    "The launch is multiplied by pairs.size, the number of all sizes; each size has one launch.": [
        ("LAUNCH + ", "LAUNCH * np.float32(pairs.size) + ")
    ],
    "The launch was added to the CPU's time; the GPU needs it.": [
        ("cpu = pairs", "cpu = LAUNCH + pairs"),
        ("gpu = LAUNCH + pairs", "gpu = pairs"),
    ],
    "The GPU needs the launch and the transfer, one after the other: their sum, not "
    "the larger of them.": [
        ("LAUNCH + pairs[i] * GPU_SECONDS", "max(LAUNCH, pairs[i] * GPU_SECONDS)")
    ],
    "The launch was added to both times; only the GPU needs it.": [
        ("cpu = pairs", "cpu = LAUNCH + pairs")
    ],
    "This is cpu / LAUNCH + gpu: a division comes before a sum. Put LAUNCH + "
    "pairs[i] * GPU_SECONDS into parentheses.": """
        i = cuda.grid(1)
        if i < pairs.size:
            speedup[i] = pairs[i] * CPU_SECONDS / LAUNCH + pairs[i] * GPU_SECONDS
    """,
    "This is the difference of the two times; the speedup is cpu / gpu.": [
        ("cpu / gpu", "cpu - gpu")
    ],
    "The fractions are cut off: // divides and rounds down, / divides.": [
        ("cpu / gpu", "cpu // gpu")
    ],
    "Each thread computes with its index i; the number of pairs is pairs[i].": [
        ("cpu = pairs[i]", "cpu = np.float32(i)"),
        ("LAUNCH + pairs[i]", "LAUNCH + np.float32(i)"),
    ],
    "No speedup is below 1 here, yet for few pairs the GPU is slower: leave it below 1.": [
        ("cpu / gpu", "max(cpu / gpu, np.float32(1))")
    ],
    "The 12 bytes of a pair are missing: keep the constants as they are given.": [
        ("pairs[i] * CPU_SECONDS", "pairs[i] * CPU_SECONDS / np.float32(12)"),
        ("pairs[i] * GPU_SECONDS", "pairs[i] * GPU_SECONDS / np.float32(12)"),
    ],
    "The numbers of pairs went through an int32: fractions are cut off, and it holds nothing above "
    "2147483647. Compute with the float32 as it is.": [
        (
            "cpu = pairs[i] * CPU_SECONDS",
            "many = min(int(pairs[i]), 2**31 - 1)\n        cpu = many * CPU_SECONDS",
        ),
        ("pairs[i] * GPU_SECONDS", "many * GPU_SECONDS"),
    ],
    "The launch is multiplied by GPU_SECONDS, too: a launch takes LAUNCH seconds.": [
        ("LAUNCH + pairs[i] * GPU_SECONDS", "(LAUNCH + pairs[i]) * GPU_SECONDS")
    ],
}
