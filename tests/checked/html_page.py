"""A parser for the HTML of reports and profiles."""

from html.parser import HTMLParser

VOID = {"br", "hr", "img"}


class Page(HTMLParser):
    """Collects elements, table rows and text; fails on unbalanced tags."""

    def __init__(self, source):
        super().__init__()
        self.stack, self.tags, self.words, self.rows = [], [], [], []
        self.feed(source)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append([tag, dict(attributes), ""])
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if "td" in self.stack or "th" in self.stack:
            self.rows[-1][-1][2] += data

    @property
    def text(self):
        return "".join(self.words)

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]

    def row(self, needle):
        return next(row for row in self.rows if needle in row[-1][2])
