"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "This is celsius * (1.8 + 32): multiply by 1.8 first, then add 32.": [
        (
            "celsius[i] * np.float32(1.8) + np.float32(32)",
            "celsius[i] * (np.float32(1.8) + np.float32(32))",
        )
    ],
    "This is (celsius + 32) * 1.8: multiply by 1.8 first, then add 32.": [
        (
            "celsius[i] * np.float32(1.8) + np.float32(32)",
            "(celsius[i] + np.float32(32)) * np.float32(1.8)",
        )
    ],
    "This is (celsius - 32) / 1.8, the way from Fahrenheit to Celsius. Here it is "
    "celsius * 1.8 + 32.": [
        (
            "celsius[i] * np.float32(1.8) + np.float32(32)",
            "(celsius[i] - np.float32(32)) / np.float32(1.8)",
        )
    ],
    "The factor is 1 here: 9 // 5 is 1, and so is int(1.8). It is 1.8.": [
        ("np.float32(1.8)", "np.float32(9 // 5)")
    ],
    "The factor is 2 here, and it is 1.8.": [("np.float32(1.8)", "np.float32(2)")],
    "32 is not added: it is celsius * 1.8 + 32.": [(" + np.float32(32)", "")],
    "The temperatures lost their fractions: int(...) or // cuts them off.": [
        (
            "celsius[i] * np.float32(1.8) + np.float32(32)",
            "math.floor(celsius[i] * np.float32(1.8) + np.float32(32))",
        )
    ],
    "The temperatures pass through float16, which holds three digits: use float32.": [
        ("= celsius[i] *", "= np.float32(np.float16(celsius[i])) *")
    ],
    "No element was ever stored: no thread passes the guard, or none stores to fahrenheit[i].": [
        ("i < celsius.shape[0]", "i > celsius.shape[0] + 1000")
    ],
}
