"""Text in figures."""

from matplotlib.text import Text


def words(figure):
    """Return all text in a figure."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]
