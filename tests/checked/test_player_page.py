"""The player's page as text: one self-contained file, with all data escaped."""

import base64
import gzip
import html
import json
import re
import webbrowser
from html.parser import HTMLParser

import numpy as np
import pytest

from gpukit.checked import player
from tests.checked import recordings

HOSTILE = "</script><script>alert(1)</script><!-- &amp; ]]> \u2028 \udc80 {{script}} \" ' \\"


def embedded(page: str) -> str:
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[1]


def recorded(page: str) -> dict:
    text = embedded(page)
    if 'data-form="gzip"' in page:
        text = gzip.decompress(base64.b64decode(text)).decode()
    return json.loads(text)


class Elements(HTMLParser):
    """Collects every start tag with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_page_holds_the_whole_recording():
    recording = recordings.reduction()
    assert recorded(player.page(recording)) == recording


def test_page_holds_a_long_recording_compressed():
    recording = recordings.long(steps=400)
    page = player.page(recording)
    assert recorded(page) == recording
    assert len(page) < len(json.dumps(recording)) / 2


def test_page_is_the_same_text_each_time():
    recording = recordings.long(steps=400)
    assert player.page(recording) == player.page(recording)


def test_page_references_no_external_resources():
    elements = Elements(player.page(recordings.reduction())).found
    sources = [
        value
        for _, attributes in elements
        for value in (attributes.get("src"), attributes.get("href"))
    ]
    assert set(sources) == {None, "data:,"}


def test_page_forbids_all_fetching():
    policy = next(
        attributes["content"]
        for tag, attributes in Elements(player.page(recordings.reduction())).found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")


@pytest.mark.parametrize("name", [*player.SCRIPTS, *player.STYLES])
def test_part_of_the_page_cannot_end_its_element(name):
    assert "</" not in player._read(name)


@pytest.mark.parametrize("long", [False, True], ids=["short", "compressed"])
def test_hostile_text_stays_data(long):
    recording = recordings.long(steps=400) if long else recordings.reduction()
    recording["kernel"] = recording["file"] = HOSTILE
    recording["source"][0]["text"] = HOSTILE
    page = player.page(recording)
    assert recorded(page) == recording
    scripts = [attributes for tag, attributes in Elements(page).found if tag == "script"]
    assert [attributes["type"] for attributes in scripts] == ["application/json", "module"]


def test_not_a_number_becomes_text_that_javascript_can_read():
    recording = recordings.reduction()
    recording["arrays"][0]["before"][:3] = [float("nan"), float("inf"), float("-inf")]
    assert recorded(player.page(recording))["arrays"][0]["before"][:3] == ["nan", "inf", "-inf"]


def test_integer_that_javascript_would_round_becomes_text():
    recording = recordings.reduction()
    recording["arrays"][0]["before"][:3] = [2**53, 2**53 + 1, -(2**60)]
    before = recorded(player.page(recording))["arrays"][0]["before"]
    assert before[:3] == [2**53, str(2**53 + 1), str(-(2**60))]


def test_numpy_values_become_numbers():
    recording = recordings.reduction()
    recording["arrays"][0]["before"] = np.array([0.5, np.nan], dtype=np.float32)
    recording["steps"][0]["lanes"] = np.uint32(2**32 - 1)
    found = recorded(player.page(recording))
    assert found["arrays"][0]["before"] == [0.5, "nan"]
    assert found["steps"][0]["lanes"] == 2**32 - 1


def test_recording_of_another_version_is_rejected():
    with pytest.raises(ValueError, match=r"expected a recording of version 1, got 2"):
        player.page({**recordings.reduction(), "version": 2})


def test_save_writes_the_page_and_returns_its_path(tmp_path):
    page = player.Player(recordings.reduction())
    path = page.save(tmp_path / "launch.html")
    assert path.read_text(encoding="utf-8") == page.html


def test_save_replaces_a_page_of_the_same_kernel(tmp_path):
    path = player.Player(recordings.reduction()).save(tmp_path / "launch.html")
    later = player.Player(recordings.reduction(forgotten_barrier=True))
    assert later.save(path).read_text(encoding="utf-8") == later.html


@pytest.mark.parametrize("text", [player.page(recordings.transpose()), "my notes"])
def test_save_does_not_overwrite_other_files(tmp_path, text):
    path = tmp_path / "launch.html"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileExistsError, match=r"launch\.html exists and is not a page of reduce_k"):
        player.Player(recordings.reduction()).save(path)
    assert path.read_text(encoding="utf-8") == text


def test_open_shows_the_saved_page_in_the_browser(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = player.Player(recordings.reduction())
    path = page.open()
    assert shown == [path.as_uri()]
    assert path.read_text(encoding="utf-8") == page.html


def test_notebook_gets_the_page_in_a_sandboxed_frame():
    page = player.Player(recordings.reduction())
    (tag, attributes), (script, _) = Elements(page._repr_html_()).found
    assert (tag, attributes["sandbox"], script) == ("iframe", "allow-scripts", "script")
    assert attributes["srcdoc"] == page.html


def test_notebook_frame_keeps_a_hostile_name_inside_its_title():
    recording = {**recordings.reduction(), "kernel": '"><script>x</script>'}
    (_, attributes), _ = Elements(player.Player(recording)._repr_html_()).found
    assert attributes["title"] == 'Player of "><script>x</script>'


def test_player_repr_says_what_it_contains():
    page = player.Player(recordings.reduction(forgotten_barrier=True))
    assert repr(page).startswith("<Player of reduce_kernel: steps 90, findings 1;")


def test_player_repr_says_that_it_is_truncated():
    page = player.Player({**recordings.reduction(), "truncated": "a has 5,000,000 elements."})
    assert repr(page).endswith("Incomplete: a has 5,000,000 elements.>")


def test_title_is_escaped():
    page = player.page({**recordings.reduction(), "kernel": "<b>"})
    assert f"<title>{html.escape('<b>')} - gpukit player</title>" in page
