#!/usr/bin/env bash
# The command line from a checkout, with the Node.js that it needs: hack/kapis.sh doctor
set -euo pipefail
hack=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$hack/setup.sh" node "$hack/../cmd/kapis/main.ts" "$@"
