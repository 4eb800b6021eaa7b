"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The tile of grad_out is read along its rows. A row of it is a sample, and the "
    "sum goes over samples: grad_tile[k, ty] * x_tile[k, tx].": [
        ("grad_tile[k, ty]", "grad_tile[ty, k]")
    ],
    "The tile of x is read along its rows. A row of it is a sample, and the sum goes "
    "over samples: grad_tile[k, ty] * x_tile[k, tx].": [("x_tile[k, tx]", "x_tile[tx, k]")],
    "Both tiles are read along their rows. A row is a sample, and the sum goes over "
    "samples: grad_tile[k, ty] * x_tile[k, tx].": [
        ("grad_tile[k, ty]", "grad_tile[ty, k]"),
        ("x_tile[k, tx]", "x_tile[tx, k]"),
    ],
    "The sum is divided by the batch. That belongs into the loss, whose gradient "
    "arrives in grad_out: here the samples are only added up.": [
        ("= acc\n", "= acc / np.float32(batch)\n")
    ],
    "The last samples are missing: the number of steps is rounded down.": [
        ("(batch + TILE - 1) // TILE", "batch // TILE")
    ],
    "Only the first 16 samples were added: the steps go on along the batch.": [
        ("range((batch + TILE - 1) // TILE)", "range(min(1, batch))")
    ],
    "Only the samples of the last step are there: acc is set to 0 once, before the loop.": [
        (
            "        sample = t * TILE + ty",
            "        acc = np.float32(0)\n        sample = t * TILE + ty",
        )
    ],
    "A thread loads grad_out only where its row, the output, exists. It loads the "
    "column left + tx for others: left + tx < grad_out.shape[1] is the guard.": [
        (
            "left + tx < grad_out.shape[1]",
            "row < grad_weight.shape[0] and left + tx < grad_out.shape[1]",
        )
    ],
    "This is grad_out @ x. The sum goes over the samples, the rows of both: "
    "grad_out[sample, row] * x[sample, col].": """
        col, row = cuda.grid(2)
        if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
            acc = np.float32(0)
            for k in range(min(grad_out.shape[1], x.shape[0])):
                acc += grad_out[row, k] * x[k, col]
            grad_weight[row, col] = acc
    """,
    "The number of steps comes from the outputs. The sum goes over the batch: (batch "
    "+ TILE - 1) // TILE.": [
        ("range((batch + TILE - 1) // TILE)", "range((grad_out.shape[1] + TILE - 1) // TILE)")
    ],
    "The number of steps comes from the inputs. The sum goes over the batch: (batch "
    "+ TILE - 1) // TILE.": [
        ("batch = x.shape[0]", "batch, steps = x.shape[0], x.shape[1]"),
        ("range((batch + TILE - 1) // TILE)", "range((steps + TILE - 1) // TILE)"),
    ],
}
