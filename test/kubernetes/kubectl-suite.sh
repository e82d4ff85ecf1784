#!/usr/bin/env bash
# Runs kubectl's command suite (test/cmd of k8s.io/kubernetes) against one server.
# Usage: kubectl-suite.sh FOLDER, a writable copy of the sources. Environment: SECURE_API_PORT, TOKEN,
# KUBE_JUNIT_REPORT_DIR, and WHAT to select groups.
set -o errexit -o nounset -o pipefail

# The libraries of the suite exit if TERM names no terminal with colors, as in a container or cron.
tput bold >/dev/null 2>&1 || export TERM=xterm
KUBE_ROOT=$1
cd "${KUBE_ROOT}"
source hack/lib/init.sh
source hack/lib/test.sh
source test/cmd/legacy-script.sh

# The following replaces the script of the suite, which builds kubectl and starts etcd.
CONTEXT=test
KUBE_TEMP=$(mktemp -d)
HOME=${KUBE_TEMP}
unset KUBECONFIG
# The suite reads the certificate of kube-apiserver from this folder.
export TMPDIR=${KUBE_TEMP}
cp "${KUBE_CA}" "${KUBE_TEMP}/apiserver.crt"
trap 'stop-proxy; rm -rf "${KUBE_TEMP}"' EXIT
kube::util::ensure-gnu-sed
kubectl config set-credentials test-admin --token "${TOKEN}"
kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:${SECURE_API_PORT}"
kubectl config set-context "${CONTEXT}" --user test-admin --cluster local
kubectl config use-context "${CONTEXT}"

# Disabled: the suite would delete all Pods of the namespace default, including those of others.
kube::test::clear_all() { true; }

# Waits for the service account: the suite creates Pods directly after their namespace, since it expects a
# kube-apiserver without the admission plugin ServiceAccount.
create_and_use_new_namespace() {
  local name
  name="namespace-$(date +%s)-${RANDOM}"
  kubectl create namespace "${name}"
  kubectl wait --for=create --timeout=60s --namespace "${name}" serviceaccount/default
  kubectl config set-context "${CONTEXT}" --namespace="${name}"
}

kubectl create -f - <<'NODE' || true
{ "kind": "Node", "apiVersion": "v1", "metadata": { "name": "127.0.0.1", "annotations": { "save-managers": "true" } },
  "status": { "capacity": { "memory": "1Gi" } } }
NODE
export SUPPORTED_RESOURCES=("*")
runTests
