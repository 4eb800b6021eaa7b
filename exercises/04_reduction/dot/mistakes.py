"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The elements behind the last whole block are missing.": [
        ("if i < a.size else", "if i < a.size // BLOCK * BLOCK else")
    ],
    "Only one block's sum is there: each block stored its own over the others'. Add "
    "with cuda.atomic.add.": [("cuda.atomic.add(out, 0, tile[0])", "out[0] = tile[0]")],
    "This is the sum of a alone: b is not multiplied in.": [("a[i] * b[i] if", "a[i] if")],
    "This is the sum of b alone: a is not multiplied in.": [("a[i] * b[i] if", "b[i] if")],
    "This is the product of a with itself: b is asked as the other factor.": [
        ("a[i] * b[i] if", "a[i] * a[i] if")
    ],
    "Here a[i] and b[i] were added; they should be multiplied.": [
        ("a[i] * b[i] if", "a[i] + b[i] if")
    ],
    "This is 128 times the right sum: every thread of a block added tile[0] to out, "
    "and only thread 0 should.": [("if tid == 0:", "if tid >= 0:")],
    "out[0] grew at every level of the tree: the atomic belongs behind the loop.": [
        ("        half //= 2\n    if tid == 0:", "        half //= 2\n        if tid == 0:"),
        ("        cuda.atomic.add(", "            cuda.atomic.add("),
    ],
    "The last level of the tree is missing: half must come down to 1. The sum of "
    "products 1, 3, 5, ... is left in tile[1].": [("while half > 0", "while half > 1")],
    "The first level of the tree is missing: half begins at 64.": [
        ("half = BLOCK // 2", "half = BLOCK // 4")
    ],
    "The fractions are lost: the shared array must be of np.float32, not of whole numbers.": [
        ("shared.array(BLOCK, np.float32)", "shared.array(BLOCK, np.int32)")
    ],
}
