"""Types into a command that runs in a terminal of its own, as a person would.

usage: type.py COMMAND [ARGUMENT]... < STEPS
STEPS is a JSON list of [TEXT, KEYS]: once TEXT has been printed after the last step, KEYS are typed. Prints what the terminal
has shown, without escape sequences, when the last step's text has been printed (its keys may be empty), or the command has ended.
Ends with 1 when a text does not come within 60 seconds.
"""

import json
import os
import pty
import re
import select
import sys
import time

steps = json.load(sys.stdin)
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
escape = re.compile(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07]*(\x07|\x1b\\)|\x1b[=>()][0-9A-B]?|\r|\x07")
shown = ""
code = 0


def read(timeout):
    """Returns what is there within the timeout; None at the end."""
    ready, _, _ = select.select([terminal], [], [], timeout)
    if not ready:
        return ""
    try:
        return os.read(terminal, 65536).decode(errors="replace") or None
    except OSError:
        return None


raw = ""
at = 0
for text, keys in steps:
    deadline = time.monotonic() + 60
    while text not in shown[at:]:
        part = read(0.2)
        if part is None or time.monotonic() > deadline:
            code = 1
            break
        raw += part
        shown = escape.sub("", raw)
    if code:
        sys.stderr.write("not shown: %r\n" % text)
        break
    at = shown.index(text, at) + len(text)
    os.write(terminal, keys.encode())
# Waits for output that follows.
end = time.monotonic() + 0.5
while time.monotonic() < end:
    part = read(0.1)
    if part is None:
        break
    raw += part
sys.stdout.write(escape.sub("", raw))
os.kill(pid, 9) if os.waitpid(pid, os.WNOHANG) == (0, 0) else None
sys.exit(code)
