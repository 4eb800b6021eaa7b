"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The numbers stand back to front; their order must stay.": [
        ("out[ends[i] - 1]", "out[out.size - ends[i]]")
    ],
    "Positive numbers below 1 were left out: every number above 0 is positive, x[i] > 0.": [
        ("x[i] > 0", "x[i] >= 1")
    ],
    "Very small positive numbers were left out: every number above 0 is positive, x[i] > 0.": [
        ("x[i] > 0", "x[i] > 1e-6")
    ],
    "Positive numbers up to 0.5 were left out: every number above 0 is positive, x[i] > 0.": [
        ("x[i] > 0", "x[i] > np.float32(0.5)"),
        ("from gpukit", "import numpy as np\n\nfrom gpukit"),
    ],
    "Only the first numbers of x were looked at: the guard compares i with the "
    "length of out, and i belongs to x.": [("i < x.size", "i < out.size")],
    "Only the first 128 numbers of x were looked at, by every block: i is "
    "cuda.grid(1), not cuda.threadIdx.x.": [("i = cuda.grid(1)", "i = cuda.threadIdx.x")],
    "This is ends[i], the place; the number x[i] is asked.": [("= x[i]\n", "= ends[i]\n")],
    "This is ends[i] - 1, the place; the number x[i] is asked.": [("= x[i]", "= ends[i] - 1")],
    "Zeros were kept too: 0 is not positive, so the test is x[i] > 0.": [("x[i] > 0", "x[i] >= 0")],
    "Numbers that are not positive were written too: only threads with x[i] > 0 store.": [
        ("if i < x.size and x[i] > 0", "if i < x.size")
    ],
}
