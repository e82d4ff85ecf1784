#!/usr/bin/env bash
# make image: builds the container image.
#   IMAGE=kapis:<version>   name of the image
#   PLATFORMS=linux/amd64,linux/arm64 PUSH=1   several platforms in one image, which requires a registry
#   TO=kapis.tar   an OCI archive instead, which only requires a builder of buildx (driver remote), and no Docker engine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The status is checked, since inspect also exits with 0 if no engine responds.
builder=$(docker buildx inspect --bootstrap 2>&1) || true
if ! grep -q '^Status: *running' <<<"$builder"; then
  echo 'make image needs Docker with buildx, but no builder is responding:' >&2
  grep -iE 'error|unknown|not found' <<<"$builder" >&2 || echo "$builder" >&2
  exit 1
fi
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
commit=$(git rev-parse HEAD 2>/dev/null || true)
# Files in the image have the time of the commit, not of the build.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
image=${IMAGE:-kapis:$version}
args=(--build-arg "VERSION=$version" --build-arg "COMMIT=$commit" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" --tag "$image")
if [ -n "${NODE_IMAGE:-}" ]; then args+=(--build-arg "NODE_IMAGE=$NODE_IMAGE"); fi
if [ -n "${PLATFORMS:-}" ]; then args+=(--platform "$PLATFORMS"); fi
if [ "${PUSH:-}" = 1 ]; then
  # Cached layers of an earlier build have the time of its commit, so published images are built
  # without a cache.
  args+=(--no-cache --sbom=true --provenance=true --output "type=image,push=true,rewrite-timestamp=true")
elif [ -n "${TO:-}" ]; then
  # Attestations contain the time of the build.
  args+=(--no-cache --provenance=false --output "type=oci,dest=$TO,rewrite-timestamp=true")
else
  # Without attestations, which would change the digest in each build. The containerd image store of Docker cannot rewrite times.
  args+=(--provenance=false --load)
fi
docker buildx build "${args[@]}" .
echo "built $image"
