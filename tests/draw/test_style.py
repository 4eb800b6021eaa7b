"""Display of figures: alt text, background, contrast."""

import base64
import io

import matplotlib
import numpy as np
import pytest
from matplotlib import image
from matplotlib.colors import to_rgba

from gpukit.draw import style

WORDS = "A line that rises from left to right."


@pytest.fixture
def figure():
    with style.house():
        fig, axes = style.figure(3, 2)
        axes.plot([0, 1], [0, 1])
    return fig


@pytest.fixture
def bundle(figure):
    return style.show(figure, alt=WORDS)._repr_mimebundle_()


def test_show_needs_alt_text(figure):
    with pytest.raises(TypeError, match="alt"):
        style.show(figure)


@pytest.mark.parametrize("alt", ["", "   \n  ", "a picture"])
def test_show_rejects_meaningless_alt_text(figure, alt):
    with pytest.raises(ValueError, match="expected alt to describe"):
        style.show(figure, alt=alt)


def test_html_carries_the_alt_text(bundle):
    assert f'alt="{WORDS}"' in bundle[0]["text/html"]


def test_png_carries_the_alt_text_as_metadata(bundle):
    assert bundle[1]["image/png"]["alt"] == WORDS


def test_text_carries_the_alt_text(bundle):
    assert WORDS in bundle[0]["text/plain"]


def test_png_is_a_png(bundle):
    assert base64.b64decode(bundle[0]["image/png"]).startswith(b"\x89PNG")


def test_alt_text_of_several_lines_becomes_one(figure):
    picture = style.show(figure, alt="One line\n    and a second line\n    of words.")
    assert picture.alt == "One line and a second line of words."


def test_alt_text_cannot_end_its_attribute(figure):
    picture = style.show(figure, alt='quotes " and <tags> in the words')
    html = picture._repr_mimebundle_()[0]["text/html"]
    assert 'alt="quotes &quot; and &lt;tags&gt; in the words"' in html


def test_figure_is_not_registered_with_pyplot(figure):
    from matplotlib import pyplot

    assert pyplot.get_fignums() == []


def test_house_style_does_not_change_global_rcparams():
    import matplotlib

    before = matplotlib.rcParams["font.size"]
    with style.house():
        matplotlib.rcParams["font.size"] = 40
    assert matplotlib.rcParams["font.size"] == before


def test_neighbouring_fills_differ():
    assert len(set(style.FILLS)) == len(style.FILLS)


def luminance(colour):
    from matplotlib.colors import to_rgb

    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("fill", style.FILLS)
def test_ink_is_legible_on_every_fill(fill):
    ratio = (luminance(fill) + 0.05) / (luminance(style.INK) + 0.05)
    assert ratio >= 4.5


def test_figure_has_margins(figure):
    from matplotlib.image import imread

    with style.house():
        figure.suptitle("A title", x=0.0, ha="left")
    pixels = imread(io.BytesIO(style.show(figure, alt=WORDS).png))
    edges = (pixels[:12], pixels[-12:], pixels[:, :12], pixels[:, -12:])
    assert all(np.allclose(edge, edge[0, 0], atol=0.01) for edge in edges)


def test_background_is_opaque_and_light_so_that_ink_is_legible_in_a_dark_notebook(bundle):
    pixels = image.imread(io.BytesIO(base64.b64decode(bundle[0]["image/png"])))
    corners = pixels[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert (corners[:, :3] > 0.95).all()
    assert (corners[:, 3:] == 1).all()


def test_background_does_not_depend_on_the_readers_rcparams():
    with matplotlib.rc_context({"figure.facecolor": "none"}):
        fig, _ = style.figure(3, 2)
    assert fig.get_facecolor() == to_rgba(style.PAPER)
