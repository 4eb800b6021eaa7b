"""Marks of harm are seen, each of its kind."""

import socket
import subprocess
import sys

import pytest

from tests.classroom import corpus, harm

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.usefixtures("port"),
]


def test_nothing_is_seen_where_nothing_happens(tmp_path):
    (tmp_path / f"{corpus.ESCAPED}before").touch()
    with harm.observed(tmp_path) as seen:
        assert seen() == []


def test_a_file_below_and_above_the_folders_is_seen(tmp_path):
    folder = tmp_path / "submissions"
    (folder / "alice").mkdir(parents=True)
    with harm.observed(folder) as seen:
        marks = [tmp_path / f"{corpus.ESCAPED}x", folder / "alice" / f"{corpus.ESCAPED}y"]
        for mark in marks:
            mark.touch()
        assert seen() == sorted(map(str, marks))


def test_a_connection_and_a_packet_are_seen(tmp_path):
    with harm.observed(tmp_path) as seen:
        with socket.create_connection(("127.0.0.1", corpus.PORT)) as link:
            link.sendall(b"alice")
            while link.recv(1):  # until it was read
                pass
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.sendto(b"bob", ("127.0.0.1", corpus.PORT))
        while len(seen()) < 2:
            pass
        assert seen() == ["connection: b'alice'", "packet: b'bob'"]


def test_a_process_that_goes_on_is_seen(tmp_path):
    code = "print(1, flush=True); input()"
    command = [sys.executable, "-c", code, f"{corpus.SURVIVOR}alice"]
    with (
        harm.observed(tmp_path) as seen,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        process.stdout.read(1)
        (found,) = seen()
        process.stdin.close()
    assert found.endswith(f"{corpus.SURVIVOR}alice")
