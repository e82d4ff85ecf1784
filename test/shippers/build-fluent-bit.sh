#!/usr/bin/env bash
# Builds Fluent Bit of a version from its public sources: build-fluent-bit.sh <version> <folder>
set -euo pipefail
source=$2/fluent-bit-$1
mkdir -p "$2"
[ -d "$source" ] ||
  git -c advice.detachedHead=false clone -q --depth 1 --branch "v$1" https://github.com/fluent/fluent-bit.git "$source"
# The database of file positions, and the backlog of unsent chunks. Some files use headers that they
# do not include.
cmake -S "$source" -B "$source/build" -DFLB_RELEASE=On -DFLB_SQLDB=On -DFLB_PREFER_SYSTEM_LIB_SQLITE=On \
  -DFLB_IN_STORAGE_BACKLOG=On -DCMAKE_C_FLAGS='-include string.h -include time.h'
cmake --build "$source/build" --target fluent-bit-bin --parallel "$(nproc)"
