"""What learners get wrong here, by the sentence that names it: edits of the solution."""

from gpukit.course import lanes

MISTAKES = {
    "The last block says 0, though all numbers are negative: a maximum begins with "
    "minus infinity, not with 0.": [("np.float32(-np.inf)", "np.float32(0)")],
    "The last level is missing: the largest of elements 1, 3, 5, ... is left in tile[1].": [
        ("while half > 0", "while half > 1")
    ],
    "The last block found x[0], which is not its own: past the end of x belongs minus infinity.": [
        ("else np.float32(-np.inf)", "else (x[0] if x.size else np.float32(-np.inf))")
    ],
    "The first level is missing: only elements 0 to 63 of each block were compared.": [
        ("half = BLOCK // 2", "half = BLOCK // 4")
    ],
    "This is the first element of each block: nothing was compared with tile[0].": [
        ("tile[tid] = max(tile[tid], tile[tid + half])", "tile[tid] = tile[tid]")
    ],
    **{
        f"Past the end of x stands {start:g}, and all numbers of a block may be lower. Minus "
        "infinity is below all.": [("np.float32(-np.inf)", f"np.float32({start})")]
        for start in lanes.STARTS
    },
}
