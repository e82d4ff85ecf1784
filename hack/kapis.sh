#!/usr/bin/env bash
# Runs the kapis command line from a checkout, with a suitable Node.js: hack/kapis.sh doctor
set -euo pipefail
hack=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$hack/setup.sh" node "$hack/../cmd/kapis/main.ts" "$@"
