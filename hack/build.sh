#!/usr/bin/env bash
# Compiles the programs into a folder, with the files next to them that they read: hack/build.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Compiled files must not be overwritten by copied ones.
find cmd pkg -name '*.js' | while read -r script; do
  [ ! -e "${script%.js}.ts" ] || { echo "$script: ${script%.js}.ts is compiled to that name" >&2; exit 1; }
done
# Types are checked by make verify; without that it takes a quarter of the time.
node_modules/.bin/tsc -p tsconfig.build.json --noCheck --outDir "$1"
find cmd pkg -type f ! -name '*.ts' ! -path '*/testdata/*' -exec cp --parents -t "$1" {} +
