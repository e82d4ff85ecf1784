"""Runs a command in a terminal of its own until it has printed a text, then closes the terminal's window.

usage: terminal.py TEXT COMMAND [ARGUMENT]...
Prints "closed" when the window is closed; ends with 1 when the command ends before it has printed the text.
"""

import os
import pty
import sys

text = sys.argv[1].encode()
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
seen = b""
while text not in seen:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        chunk = b""
    if not chunk:
        sys.stdout.write(seen.decode(errors="replace"))
        sys.exit(1)
    seen += chunk
# The kernel sends SIGHUP to the foreground of the terminal, and every later write to it fails with EIO.
os.close(terminal)
print("closed", flush=True)
