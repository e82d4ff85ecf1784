#!/usr/bin/env bash
# make kind: a kind cluster with Kapis in it, checked. KIND_CLUSTER names it (kapis), KUBERNETES its version (kind's own).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in docker kind kubectl; do
  command -v "$tool" >/dev/null || { echo "make kind needs $tool, which is not installed" >&2; exit 1; }
done
docker info >/dev/null 2>&1 || { echo 'make kind needs Docker, and none answers here (docker info fails)' >&2; exit 1; }

cluster=${KIND_CLUSTER:-kapis}
image=kapis:$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
overlay=${OVERLAY:-default}
IMAGE=$image hack/image.sh
if ! kind get clusters | grep -qx "$cluster"; then
  kind create cluster --name "$cluster" --wait 120s ${KUBERNETES:+--image "kindest/node:$KUBERNETES"}
fi
kind load docker-image --name "$cluster" "$image"
kubectl=(kubectl --context "kind-$cluster")
"${kubectl[@]}" apply -k "manifests/overlays/$overlay"
"${kubectl[@]}" -n kapis-system rollout status deployment/kapis --timeout=180s
"${kubectl[@]}" wait --for=condition=Available apiservice/v1alpha3.resources.kapis.io --timeout=60s
"${kubectl[@]}" get nodes.resources.kapis.io -o wide
pod=$("${kubectl[@]}" -n kapis-system get pods -l app.kubernetes.io/component=apiserver -o name | head -1)
# A Pod may read nothing of its own installation beyond its rights: the administrator asks.
"${kubectl[@]}" -n kapis-system exec "$pod" -c apiserver -- node /kapis/cmd/kapis/main.js version
echo "Kapis runs in the kind cluster $cluster: kubectl --context kind-$cluster get nodes.resources.kapis.io"
