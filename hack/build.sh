#!/usr/bin/env bash
# Compiles the programs into a folder, with the files beside them that they read: hack/build.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

node_modules/.bin/tsc -p tsconfig.build.json --outDir "$1"
find cmd pkg -type f ! -name '*.ts' ! -path '*/testdata/*' -exec cp --parents -t "$1" {} +
