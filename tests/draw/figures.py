"""What pictures say."""

from matplotlib.text import Text


def words(figure):
    """Everything written in a figure."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]
