#!/usr/bin/env bash
# make kind: creates a kind cluster, installs Kapis in it, and checks it.
#   KIND_CLUSTER=kapis   name of the cluster; in an existing cluster, Kapis is replaced
#   KUBERNETES=v1.34     Kubernetes minor version, one of those in CI; defaults to the newest
#   KUBERNETES=v1.36.2   any other Kubernetes version
#   KIND_IMAGE=registry.example.org/kindest/node:v1.36.4@sha256:…   node image instead of a version
#   OVERLAY=default      one of manifests/overlays
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in docker kind kubectl; do
  command -v "$tool" >/dev/null || { echo "make kind needs $tool, which is not installed" >&2; exit 1; }
done
docker info >/dev/null 2>&1 || { echo 'make kind needs Docker, and none answers here (docker info fails)' >&2; exit 1; }

cluster=${KIND_CLUSTER:-kapis}
image=kapis:$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
overlay=manifests/overlays/${OVERLAY:-default}
# Node images by digest, from the matrix in CI: the default of kind may be a Kubernetes version that
# Kapis does not support.
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
# The tag is only the version, so a changed image would not restart the Pods.
if [ -n "$before" ]; then "${kubectl[@]}" -n "$namespace" rollout restart deployment/kapis; fi
"${kubectl[@]}" -n "$namespace" rollout status deployment/kapis --timeout=180s
"${kubectl[@]}" wait --for=condition=Available "apiservice/$service" --timeout=60s
# Discovery of kube-apiserver contains the resources some seconds after the APIService is available.
for ((i = 0; i < 30; i++)); do
  "${kubectl[@]}" get "nodes.$resources" >/dev/null 2>&1 && break
  sleep 2
done
"${kubectl[@]}" get "nodes.$resources" -o wide
pod=$("${kubectl[@]}" -n "$namespace" get pods -l app.kubernetes.io/component=apiserver -o name | head -1)
"${kubectl[@]}" -n "$namespace" exec "$pod" -c apiserver -- node /kapis/cmd/kapis/main.js version
# Runs with the permissions of the administrator, since the Pod cannot read its own installation.
kubeconfig=$(mktemp)
trap 'rm -f "$kubeconfig"' EXIT
kind get kubeconfig --name "$cluster" >"$kubeconfig"
hack/kapis.sh doctor --kubeconfig "$kubeconfig" --namespace "$namespace"
echo "Kapis runs in the kind cluster $cluster: kubectl --context kind-$cluster get nodes.$resources"
