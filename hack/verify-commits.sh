#!/bin/sh
# Checks the subjects of the commits of a range (origin/main..HEAD): Conventional Commits, 72 characters at most.
set -eu
types='feat|fix|refactor|perf|docs|test|build|chore'
bad=$(git log --no-merges --format=%s "${1:?a range such as origin/main..HEAD}" |
  grep -vE "^($types)(\([a-z0-9,/ -]+\))?!?: .{1,}$" || true)
long=$(git log --no-merges --format=%s "$1" | awk 'length > 72')
[ -z "$bad$long" ] || { printf 'invalid commit subject; expected type(scope): imperative subject, at most 72 characters:\n%s\n%s\n' "$bad" "$long"; exit 1; }
