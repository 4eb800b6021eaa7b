"""Pictures of launches and of the results of kernels, drawn from what running kernels recorded.

Functions that draw return a matplotlib figure; `show(fig, alt=...)` shows it, with alt text. `ask`
and the explorers are interactive HTML.
"""

from gpukit.draw.ask import ask, seal
from gpukit.draw.attention import attention_weights
from gpukit.draw.clusters import (
    memory_bars,
    memory_bars_in_words,
    published_bars,
    published_bars_in_words,
    scaling_curve,
    scaling_curve_in_words,
    step_bars,
    step_bars_in_words,
)
from gpukit.draw.estimates import estimates, estimates_in_words
from gpukit.draw.explorers import (
    latency_explorer,
    launch_explorer,
    memory_explorer,
    pipeline_explorer,
)
from gpukit.draw.formats import bits, magnitudes
from gpukit.draw.launches import launch_1d, launch_2d
from gpukit.draw.learning import LiveLoss, confusion, grid, loss_curve, loss_curve_in_words
from gpukit.draw.machines import computer, zoom
from gpukit.draw.maps import address_map, address_map_in_words, bank_map, bank_map_in_words
from gpukit.draw.messages import message_chart, message_chart_in_words
from gpukit.draw.paths import field, paths
from gpukit.draw.patterns import block_3d, grid_stride, warp_iterations
from gpukit.draw.pictures import counts, curve, images, matrix, photo
from gpukit.draw.pipelines import pipeline_chart, pipeline_chart_in_words, pipeline_text
from gpukit.draw.products import bytes_moved, lanes, product_orders, product_reads, thread_results
from gpukit.draw.profiles import roofline, roofline_in_words
from gpukit.draw.sequences import over_time, unrolled
from gpukit.draw.storage import memories, walks
from gpukit.draw.streams import stream_steps, stream_timeline, task_chart, task_chart_in_words
from gpukit.draw.style import Picture, show
from gpukit.draw.throughput import areas, lines
from gpukit.draw.tiles import stride_bars, tile_banks, tile_steps
from gpukit.draw.timings import Table, ratios, recorded, table
from gpukit.draw.trees import bars, chain_and_tree, drift, scan_steps, who_works

__all__ = [
    "LiveLoss",
    "Picture",
    "Table",
    "address_map",
    "address_map_in_words",
    "areas",
    "ask",
    "seal",
    "bank_map",
    "bank_map_in_words",
    "bars",
    "bits",
    "block_3d",
    "bytes_moved",
    "chain_and_tree",
    "computer",
    "confusion",
    "counts",
    "curve",
    "drift",
    "estimates",
    "estimates_in_words",
    "field",
    "grid",
    "grid_stride",
    "images",
    "lanes",
    "latency_explorer",
    "launch_1d",
    "launch_2d",
    "launch_explorer",
    "lines",
    "attention_weights",
    "loss_curve",
    "loss_curve_in_words",
    "magnitudes",
    "matrix",
    "memories",
    "memory_bars",
    "memory_bars_in_words",
    "memory_explorer",
    "message_chart",
    "message_chart_in_words",
    "over_time",
    "paths",
    "photo",
    "pipeline_chart",
    "pipeline_chart_in_words",
    "pipeline_explorer",
    "pipeline_text",
    "product_orders",
    "product_reads",
    "published_bars",
    "published_bars_in_words",
    "ratios",
    "recorded",
    "roofline",
    "roofline_in_words",
    "scaling_curve",
    "scaling_curve_in_words",
    "scan_steps",
    "show",
    "step_bars",
    "step_bars_in_words",
    "stream_steps",
    "stream_timeline",
    "stride_bars",
    "table",
    "task_chart",
    "task_chart_in_words",
    "thread_results",
    "tile_banks",
    "tile_steps",
    "unrolled",
    "walks",
    "warp_iterations",
    "who_works",
    "zoom",
]
