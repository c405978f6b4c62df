"""Ctrl-C in the first second of a command, while most of it is still being imported."""

import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("typer")

# What runs in the background of a shell is deaf to the signal unless told otherwise.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from steadycv.cli import main
print("numpy" in sys.modules, flush=True)
main()
"""
SLOW = ("tune", "--model", "random-forest")


@pytest.mark.parametrize(
    ("seconds", "arguments"),
    [
        *((seconds, SLOW) for seconds in (0.01, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)),
        (0.1, ("reproduce", "table3")),
        (0.1, ("compare", "data.csv", "--target", "y")),
        (0.1, ("predict", "model.skops", "data.csv")),
    ],
)
def test_no_traceback_and_at_most_a_line(tmp_path, seconds, arguments):
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "False\n"  # the large imports are all to come
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert len(errors.splitlines()) <= 1
    assert not errors or errors.startswith("steadycv: Interrupted.")
