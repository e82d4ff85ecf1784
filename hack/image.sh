#!/usr/bin/env bash
# make image: builds the container image.
#   IMAGE=kapis:<version>   its name
#   PLATFORMS=linux/amd64,linux/arm64 PUSH=1   several machines in one name, which only a registry can hold
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! docker info >/dev/null 2>&1; then
  echo 'make image needs Docker, and none answers here (docker info fails). Start Docker, or use a machine that has it.' >&2
  exit 1
fi
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
commit=$(git rev-parse HEAD 2>/dev/null || true)
# Files in the image bear the time of the commit, and not that of the build.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
image=${IMAGE:-kapis:$version}
args=(--build-arg "VERSION=$version" --build-arg "COMMIT=$commit" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" --tag "$image")
for name in NODE_IMAGE BASE_IMAGE; do
  if [ -n "${!name:-}" ]; then args+=(--build-arg "$name=${!name}"); fi
done
if [ -n "${PLATFORMS:-}" ]; then args+=(--platform "$PLATFORMS"); fi
if [ "${PUSH:-}" = 1 ]; then
  args+=(--sbom=true --provenance=true --output "type=image,push=true,rewrite-timestamp=true")
else
  args+=(--output "type=docker,rewrite-timestamp=true")
fi
docker buildx build "${args[@]}" .
echo "built $image"
