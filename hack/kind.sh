#!/usr/bin/env bash
# make kind: a kind cluster with Kapis in it, checked.
#   KIND_CLUSTER=kapis   its name; one that is there already is taken, and what runs in it is replaced
#   KUBERNETES=v1.34     its version, of those that CI runs; without it the newest of them
#   KUBERNETES=v1.36.2   any other
#   KIND_IMAGE=registry.example.org/kindest/node:v1.36.4@sha256:…   its image instead, by digest or from a mirror
#   OVERLAY=default      which manifests (manifests/overlays)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in docker kind kubectl; do
  command -v "$tool" >/dev/null || { echo "make kind needs $tool, which is not installed" >&2; exit 1; }
done
docker info >/dev/null 2>&1 || { echo 'make kind needs Docker, and none answers here (docker info fails)' >&2; exit 1; }

cluster=${KIND_CLUSTER:-kapis}
image=kapis:$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
overlay=manifests/overlays/${OVERLAY:-default}
# From the matrix in CI, by digest: the default of kind may be a Kubernetes version that Kapis does
# not support.
tried=$(sed -n 's|^ *- \(kindest/node:v[0-9.]*@sha256:[0-9a-f]*\)$|\1|p' .github/workflows/ci.yaml | sort -V)
node=${KIND_IMAGE:-}
if [ -z "$node" ] && [ -n "${KUBERNETES:-}" ]; then
  node=$(grep -E "^kindest/node:v${KUBERNETES#v}[.@]" <<<"$tried" | tail -1) || node=kindest/node:v${KUBERNETES#v}
fi
if [ -z "$node" ]; then node=$(tail -1 <<<"$tried"); fi
[ -n "$node" ] || { echo 'no node image in .github/workflows/ci.yaml: name one by KIND_IMAGE' >&2; exit 1; }
kubectl=(kubectl --context "kind-$cluster")

[ -d "$overlay" ] || { echo "OVERLAY names none of these: $(cd manifests/overlays && echo *)" >&2; exit 1; }
# The group domain and namespace come from the overlay.
service=$(kubectl kustomize "$overlay" | sed -n 's/^  name: \(v1alpha3\.resources\..*\)$/\1/p')
resources=${service#v1alpha3.}

IMAGE=$image hack/image.sh
if ! kind get clusters | grep -qx "$cluster"; then
  kind create cluster --name "$cluster" --wait 120s --image "$node"
fi
kind load docker-image --name "$cluster" "$image"
before=$("${kubectl[@]}" get deployments -A -l app.kubernetes.io/name=kapis -o name)
"${kubectl[@]}" apply -k "$overlay"
namespace=$("${kubectl[@]}" get apiservice "$service" -o 'jsonpath={.spec.service.namespace}')
# The tag only contains the version, so Pods of the previous image would stay.
if [ -n "$before" ]; then "${kubectl[@]}" -n "$namespace" rollout restart deployment/kapis; fi
"${kubectl[@]}" -n "$namespace" rollout status deployment/kapis --timeout=180s
"${kubectl[@]}" wait --for=condition=Available "apiservice/$service" --timeout=60s
# kube-apiserver names the resources of an APIService in its discovery some seconds after it calls it available.
for ((i = 0; i < 30; i++)); do
  "${kubectl[@]}" get "nodes.$resources" >/dev/null 2>&1 && break
  sleep 2
done
"${kubectl[@]}" get "nodes.$resources" -o wide
pod=$("${kubectl[@]}" -n "$namespace" get pods -l app.kubernetes.io/component=apiserver -o name | head -1)
"${kubectl[@]}" -n "$namespace" exec "$pod" -c apiserver -- node /kapis/cmd/kapis/main.js version
# Run by the administrator and not in the Pod, which may not read its own installation.
kubeconfig=$(mktemp)
trap 'rm -f "$kubeconfig"' EXIT
kind get kubeconfig --name "$cluster" >"$kubeconfig"
hack/kapis.sh doctor --kubeconfig "$kubeconfig" --namespace "$namespace"
echo "Kapis runs in the kind cluster $cluster: kubectl --context kind-$cluster get nodes.$resources"
