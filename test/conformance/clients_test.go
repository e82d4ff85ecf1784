package conformance

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// plurals are kinds of kube-apiserver's core group that the aggregated API serves, and the Go type of their lists.
var plurals = map[string]func() runtime.Object{
	"nodes":      func() runtime.Object { return &corev1.NodeList{} },
	"namespaces": func() runtime.Object { return &corev1.NamespaceList{} },
	"pods":       func() runtime.Object { return &corev1.PodList{} },
	claims:       func() runtime.Object { return &corev1.PersistentVolumeClaimList{} },
}

func TestClients(t *testing.T) {
	holds(t, []check{
		{"the dynamic client reads what kube-apiserver has", dynamicReads},
		{"the metadata client reads the same metadata", metadataReads},
		{"a typed client reads typed objects", typedReads},
		{"selectors select", selectorsSelect},
		{"a list waits for a version that has just been written", listIsFresh},
	}, everywhere)
}

// identities of objects by name, with the version of each.
func identities(t *testing.T, items []unstructured.Unstructured) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, item := range items {
		found[item.GetNamespace()+"/"+item.GetName()] = string(item.GetUID())
	}
	return found
}

func dynamicReads(t *testing.T, s *subject) {
	for plural, kind := range map[string]string{"nodes": "Node", claims: "PersistentVolumeClaim"} {
		own := must(s.dynamic(t).Resource(s.resource(plural)).List(inTime(t), metav1.ListOptions{}))(t)
		equal(t, "kind of the list", own.GroupVersionKind(), s.gv.WithKind(kind+"List"))
		for _, item := range own.Items {
			equal(t, "kind", item.GroupVersionKind(), s.gv.WithKind(kind))
			if item.GetUID() == "" || item.GetResourceVersion() == "" || item.GetCreationTimestamp() == (metav1.Time{}) {
				t.Fatalf("%s has no uid, resourceVersion or creationTimestamp", item.GetName())
			}
		}
	}
	nodes := must(s.dynamic(t).Resource(s.resource("nodes")).List(inTime(t), metav1.ListOptions{}))(t)
	native := must(subjects[0].dynamic(t).Resource(subjects[0].resource("nodes")).List(inTime(t), metav1.ListOptions{}))(t)
	equal(t, "nodes", fmt.Sprint(identities(t, nodes.Items)), fmt.Sprint(identities(t, native.Items)))
	one := must(claimsOf(t, s, scene).Get(inTime(t), claimName(3), metav1.GetOptions{}))(t)
	other := must(claimsOf(t, subjects[0], scene).Get(inTime(t), claimName(3), metav1.GetOptions{}))(t)
	equal(t, "resourceVersion", one.GetResourceVersion(), other.GetResourceVersion())
	for _, member := range []string{"spec", "status"} {
		equal(t, member, textOf(t, one.Object[member]), textOf(t, other.Object[member]))
	}
}

func textOf(t *testing.T, value any) string {
	t.Helper()
	return string(must(json.Marshal(value))(t))
}

func metadataReads(t *testing.T, s *subject) {
	read := func(of *subject) *metav1.PartialObjectMetadata {
		client := of.metadata(t).Resource(of.resource(claims)).Namespace(scene)
		object := must(client.Get(inTime(t), claimName(3), metav1.GetOptions{}))(t)
		// managedFields are not part of the aggregated API, since they only matter for writes.
		object.ManagedFields = nil
		return object
	}
	equal(t, "metadata", textOf(t, read(s).ObjectMeta), textOf(t, read(subjects[0]).ObjectMeta))
}

func typedReads(t *testing.T, s *subject) {
	for _, accept := range []string{asJSON, protobufOrJSON, jsonOrProtobuf} {
		for plural, makeList := range plurals {
			list := makeList()
			if err := s.rest(t, accept).Get().Resource(plural).Do(inTime(t)).Into(list); err != nil {
				t.Fatalf("%s: %v", plural, err)
			}
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := s.rest(t, accept).Get().Namespace(scene).Resource(claims).Name(claimName(1)).Do(inTime(t)).Into(claim)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "storage", claim.Spec.Resources.Requests.Storage().String(), "1Gi")
		equal(t, "uid", claim.UID != types.UID(""), true)
	}
}

func selectorsSelect(t *testing.T, s *subject) {
	for _, c := range []struct {
		options metav1.ListOptions
		want    int
	}{
		{metav1.ListOptions{LabelSelector: "step=0"}, claimsInScene},
		{metav1.ListOptions{LabelSelector: "step!=0"}, 0},
		{metav1.ListOptions{LabelSelector: "step in (0,1),step"}, claimsInScene},
		{metav1.ListOptions{LabelSelector: "!step"}, 0},
		{metav1.ListOptions{LabelSelector: "step,!step"}, 0},
		{metav1.ListOptions{FieldSelector: "metadata.name=" + claimName(2)}, 1},
		{metav1.ListOptions{FieldSelector: "metadata.name!=" + claimName(2)}, claimsInScene - 1},
		{metav1.ListOptions{FieldSelector: "metadata.namespace=" + scene}, claimsInScene},
		{metav1.ListOptions{FieldSelector: "metadata.namespace=other"}, 0},
	} {
		found := list(t, claimsOf(t, s, scene), c.options)
		equal(t, c.options.LabelSelector+c.options.FieldSelector, len(found.Items), c.want)
	}
	for accept, want := range map[string]string{asJSON: `"items":[]`, tableV1: `"rows":[]`} {
		nothing := must(claimsTable(t, s, accept).Param("labelSelector", "!step").Do(inTime(t)).Raw())(t)
		equal(t, want+" in "+string(nothing), strings.Contains(string(nothing), want), true)
	}
}

func listIsFresh(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	for i := range 5 {
		made := addClaim(t, namespace, claimName(i))
		for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchNotOlderThan} {
			options := metav1.ListOptions{ResourceVersion: made.ResourceVersion, ResourceVersionMatch: match}
			equal(t, "items", len(list(t, claimsOf(t, s, namespace), options).Items), i+1)
		}
		client := claimsOf(t, s, namespace)
		must(client.Get(inTime(t), made.Name, metav1.GetOptions{ResourceVersion: made.ResourceVersion}))(t)
	}
}
