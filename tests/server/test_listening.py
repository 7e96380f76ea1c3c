"""An address that cannot be had is told before anything is loaded, with what to do."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from server.listening import unusable
from server.settings import ListenSettings

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_free_port_is_good():
    assert unusable(ListenSettings(port=0)) is None


def test_a_port_in_use_is_named_with_what_to_do(taken):
    fault = unusable(ListenSettings(port=taken))
    assert f"port {taken} of 127.0.0.1 is in use" in fault
    assert "--port" in fault


@pytest.mark.parametrize("host", ["a" * 64, "192.0.2.1"])
def test_an_address_of_no_interface_here_is_named(host):
    assert f"listen.host is '{host}', which is no address of this machine" in unusable(
        ListenSettings(host=host, port=0)
    )


def test_the_server_says_so_in_one_line_and_exits_with_2(taken):
    command = [sys.executable, "-m", "server", "--runner", "tone", "--port", str(taken)]
    ran = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "is in use" in ran.stderr
