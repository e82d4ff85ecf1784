"""Reads YAML documents, one a line as a JSON string, and writes what PyYAML takes each for, one a line as JSON."""
import json
import sys

import yaml

sys.setrecursionlimit(10_000)


def check(value):
    """Keys and values that JSON does not have: dates, bytes, keys that are not text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} was read as {type(key)}")
            check(inner)
    elif isinstance(value, list):
        for inner in value:
            check(inner)
    elif not isinstance(value, (str, int, float, type(None))):
        raise TypeError(f"{value!r} was read as {type(value)}")


for line in sys.stdin:
    value = yaml.load(json.loads(line), yaml.SafeLoader)
    check(value)
    print(json.dumps(value))
