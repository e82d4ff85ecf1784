#!/usr/bin/env bash
# Installs the programs for the end-to-end tests that npm does not install: Chromium for the web
# pages, slapd as an LDAP server, Prometheus with promtool for metrics and alerts, and the shells
# zsh and fish for completion. It does nothing if they are installed. Otherwise it installs them
# by apt-get, or prints what to install if that is not permitted.
set -uo pipefail

say() { printf 'test tools: %s\n' "$*" >&2; }

# Debian installs daemons in folders that are only in the PATH of root.
PATH="$PATH:/usr/sbin:/sbin"
has() { command -v "$1" >/dev/null 2>&1; }

missing=()
has chromium || missing+=(chromium)
{ has slapd && has slapadd; } || missing+=(slapd)
{ has prometheus && has promtool; } || missing+=(prometheus)
has zsh || missing+=(zsh)
has fish || missing+=(fish)
[ "${#missing[@]}" -eq 0 ] && exit 0

give_up() {
  say "$1"
  say "install what is missing (${missing[*]}; on Debian: apt-get install --no-install-recommends ${missing[*]}) and try again"
  exit 1
}

has apt-get || give_up 'apt-get is not there'
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  { has sudo && sudo -n true 2>/dev/null; } || give_up 'only root may install packages'
  as_root=(sudo -n)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    give_up "$1 failed, see above"
  fi
}

# Waits for other installations, which may be in progress on a machine that has just started.
wait=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
say 'reading the lists of packages'
run apt-get "${wait[@]}" -q update
say "installing ${missing[*]} (about 160 MB to fetch for all)"
# The tests start their own LDAP server, so the service of the package must not start.
if [[ " ${missing[*]} " == *' slapd '* ]] && has debconf-set-selections; then
  echo 'slapd slapd/no_configuration boolean true' | "${as_root[@]}" debconf-set-selections || true
fi
run apt-get "${wait[@]}" -q install -y --no-install-recommends "${missing[@]}"
# Prevents the package from starting its service.
if [[ " ${missing[*]} " == *' prometheus '* ]] && has systemctl; then
  "${as_root[@]}" systemctl disable --now prometheus >/dev/null 2>&1 || true
fi
{ has chromium || [[ " ${missing[*]} " != *' chromium '* ]]; } || give_up 'chromium was installed and cannot be found'
say 'ready'
