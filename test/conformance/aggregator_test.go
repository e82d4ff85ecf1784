package conformance

import (
	"fmt"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// TestAggregator: checks what kube-apiserver requires of an aggregated server, like the test of the sample
// API server.
func TestAggregator(t *testing.T) {
	holds(t, []check{
		{"the APIService is available, and all checks passed", apiServiceAvailable},
		{"the collection is read by its path", collectionByPath},
		{"the APIService can be labelled, and its priority be changed, while the group is served", apiServicePatched},
		{"the status of the APIService can be patched, and stays available", apiServiceStatus},
		{"a namespace can be deleted, which a group that fails would prevent", namespaceGoes},
	}, aggregated)
}

func apiServices(t *testing.T, s *subject) (client dynamic.ResourceInterface, name string) {
	t.Helper()
	kind := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	return s.dynamic(t).Resource(kind), s.gv.Version + "." + s.gv.Group
}

func getAPIService(t *testing.T, s *subject) *unstructured.Unstructured {
	t.Helper()
	client, name := apiServices(t, s)
	return must(client.Get(inTime(t), name, metav1.GetOptions{}))(t)
}

// conditionOf is the status and the message of a condition.
func conditionOf(t *testing.T, object *unstructured.Unstructured, kind string) string {
	t.Helper()
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range conditions {
		if condition, _ := each.(map[string]any); condition["type"] == kind {
			return fmt.Sprint(condition["status"], ": ", condition["message"])
		}
	}
	return ""
}

const isAvailable = "True: all checks passed"

func apiServiceAvailable(t *testing.T, s *subject) {
	object := getAPIService(t, s)
	equal(t, "Available", conditionOf(t, object, "Available"), isAvailable)
	must(strconv.ParseUint(object.GetResourceVersion(), 10, 64))(t)
	_, isThere, err := unstructured.NestedString(object.Object, "spec", "caBundle")
	if err != nil || !isThere {
		t.Fatalf("no authority for the connection: %v", err)
	}
}

func collectionByPath(t *testing.T, s *subject) {
	for _, path := range []string{s.path(claims), s.path("namespaces", scene, claims), s.path("nodes")} {
		found := unstructured.UnstructuredList{}
		decode(t, must(s.discovery(t).RESTClient().Get().AbsPath(path).Do(inTime(t)).Raw())(t), &found)
		equal(t, "items of "+path, len(found.Items) > 0, true)
	}
}

func patchAPIService(t *testing.T, s *subject, patch string, subresources ...string) *unstructured.Unstructured {
	t.Helper()
	client, name := apiServices(t, s)
	return must(client.Patch(inTime(t), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...))(t)
}

func apiServicePatched(t *testing.T, s *subject) {
	t.Cleanup(func() { patchAPIService(t, s, `{"metadata":{"labels":{"conformance":null}}}`) })
	patchAPIService(t, s, `{"metadata":{"labels":{"conformance":"yes"}},"spec":{"versionPriority":400}}`)
	eventually(t, "the group is served and its APIService available", func() bool {
		list(t, claimsOf(t, s, scene), metav1.ListOptions{Limit: 1})
		object := getAPIService(t, s)
		priority, _, _ := unstructured.NestedInt64(object.Object, "spec", "versionPriority")
		// Kapis keeps the installed registration, and fields that others have added.
		return priority != 400 && object.GetLabels()["conformance"] == "yes" &&
			conditionOf(t, object, "Available") == isAvailable
	})
}

func apiServiceStatus(t *testing.T, s *subject) {
	before, _, err := unstructured.NestedSlice(getAPIService(t, s).Object, "status", "conditions")
	if err != nil {
		t.Fatal(err)
	}
	extra := map[string]any{"type": "Conformance", "status": "True", "reason": "Tried", "message": "tried",
		"lastTransitionTime": "2020-01-01T00:00:00Z"}
	patch := func(conditions []any) *unstructured.Unstructured {
		return patchAPIService(t, s, textOf(t, map[string]any{"status": map[string]any{"conditions": conditions}}), "status")
	}
	patched := patch(append(append([]any{}, before...), extra))
	equal(t, "condition", conditionOf(t, patched, "Conformance"), "True: tried")
	equal(t, "Available", conditionOf(t, getAPIService(t, s), "Available"), isAvailable)
	patch(before)
}

func namespaceGoes(t *testing.T, s *subject) {
	name := must(makeNamespace(inTime(t)))(t)
	addClaim(t, name, "a")
	removeNamespace(name)
	eventually(t, "the namespace is gone", func() bool {
		_, err := kube.CoreV1().Namespaces().Get(inTime(t), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}
