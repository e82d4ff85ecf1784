package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

const (
	asJSON         = "application/json"
	asProtobuf     = "application/vnd.kubernetes.protobuf"
	protobufOrJSON = asProtobuf + "," + asJSON
	jsonOrProtobuf = asJSON + "," + asProtobuf
)

func TestWatch(t *testing.T) {
	checks := []check{
		{"what enters and leaves a selection is sent as added and deleted", watchSelection},
		{"two watches see one order", watchOneOrder},
		{"a watch goes on behind any version that was seen", watchResumes},
		{"a version that is gone ends a watch with Expired", watchTooOld},
		{"a selector that is none is rejected before the stream", watchBroken},
		{"options that contradict each other are 422", watchInvalid},
		{"a watch ends when its time is over, with a bookmark before", watchEnds},
		{"without a version a watch begins with what there is", watchFromNow},
		{"metadata alone can be watched", watchMetadata},
	}
	for _, accept := range []string{asJSON, protobufOrJSON, jsonOrProtobuf} {
		checks = append(checks, check{"changes and errors are sent, accepting " + accept, func(t *testing.T, s *subject) {
			watchTyped(t, s, accept)
		}})
	}
	holds(t, checks, everywhere)
}

// TestProtobuf: clients that only accept protobuf are served for native kinds, and rejected for
// those of others.
func TestProtobuf(t *testing.T) {
	holds(t, []check{{"is the only form that is accepted", func(t *testing.T, s *subject) {
		if s.isNative {
			watchTyped(t, s, asProtobuf)
			return
		}
		client := s.rest(t, asProtobuf)
		for _, params := range []*metav1.ListOptions{{}, {Watch: true}} {
			request := client.Get().Namespace(scene).Resource(claims).VersionedParams(params, metav1.ParameterCodec)
			if params.Watch {
				_, err := request.Watch(inTime(t))
				is(t, err, "NotAcceptable", apierrors.IsNotAcceptable)
				continue
			}
			is(t, request.Do(inTime(t)).Error(), "NotAcceptable", apierrors.IsNotAcceptable)
		}
	}}}, everywhere)
}

// events reads a watch.
type events struct {
	t *testing.T
	watch.Interface
}

func follow(t *testing.T, stream watch.Interface, err error) events {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stream.Stop)
	return events{t, stream}
}

// next is the next event; isOpen reports whether there was one.
func (e events) next() (event watch.Event, isOpen bool) {
	e.t.Helper()
	select {
	case event, isOpen = <-e.ResultChan():
		return event, isOpen
	case <-time.After(patience):
		e.t.Fatalf("no event within %s", patience)
		return event, false
	}
}

// received is the next event in short, such as "ADDED claim-0001 step 2". Bookmarks arrive at any time
// (KEP-956).
func (e events) received() string {
	e.t.Helper()
	event, isOpen := e.next()
	for event.Type == watch.Bookmark {
		event, isOpen = e.next()
	}
	if !isOpen {
		return "the end"
	}
	if event.Type == watch.Error {
		return "ERROR " + apierrors.FromObject(event.Object).Error()
	}
	object := must(meta.Accessor(event.Object))(e.t)
	return fmt.Sprintf("%s %s step %s", event.Type, object.GetName(), object.GetLabels()["step"])
}

func (e events) receives(want ...string) {
	e.t.Helper()
	for i, line := range want {
		equal(e.t, fmt.Sprintf("event %d", i), e.received(), line)
	}
}

func watchTyped(t *testing.T, s *subject, accept string) {
	namespace := ownNamespace(t)
	first := addClaim(t, namespace, "a")
	client := s.rest(t, accept)
	stream := watchIn(t, client, namespace, claims, metav1.ListOptions{ResourceVersion: first.ResourceVersion})
	made := addClaim(t, namespace, "b")
	for i := range 3 {
		step(t, namespace, "b", i+1)
	}
	event, _ := stream.next()
	equal(t, "type", event.Type, watch.Added)
	claim, ok := event.Object.(*corev1.PersistentVolumeClaim)
	if !ok {
		t.Fatalf("not a typed object: %T", event.Object)
	}
	equal(t, "uid", claim.UID, made.UID)
	equal(t, "storage", claim.Spec.Resources.Requests.Storage().String(), "1Gi")
	stream.receives("MODIFIED b step 1", "MODIFIED b step 2", "MODIFIED b step 3")
	holdExpired(t, watchIn(t, client, namespace, s.forgetful(), metav1.ListOptions{ResourceVersion: "1"}))
}

func watchIn(t *testing.T, client rest.Interface, namespace, plural string, options metav1.ListOptions) events {
	t.Helper()
	options.Watch = true
	request := client.Get().Namespace(namespace).Resource(plural).VersionedParams(&options, metav1.ParameterCodec)
	stream, err := request.Watch(inTime(t))
	return follow(t, stream, err)
}

// holdExpired: an ERROR event with a Status ends a watch that cannot continue.
func holdExpired(t *testing.T, stream events) {
	t.Helper()
	event, isOpen := stream.next()
	if !isOpen {
		t.Fatal("ended without an event")
	}
	equal(t, "type", event.Type, watch.Error)
	err := apierrors.FromObject(event.Object)
	is(t, err, "Expired", apierrors.IsResourceExpired)
	if apierrors.IsUnexpectedObjectError(err) {
		t.Fatalf("not a Status: %T", event.Object)
	}
	equal(t, "afterwards", stream.received(), "the end")
}

func watchTooOld(t *testing.T, s *subject) {
	client := s.dynamic(t).Resource(s.resource(s.forgetful())).Namespace(scene)
	stream, err := client.Watch(inTime(t), metav1.ListOptions{ResourceVersion: "1"})
	holdExpired(t, follow(t, stream, err))
}

func watchBroken(t *testing.T, s *subject) {
	for _, options := range []metav1.ListOptions{{LabelSelector: "a in"}, {FieldSelector: "spec.none=1"}, {FieldSelector: "none"}} {
		_, err := claimsOf(t, s, scene).Watch(inTime(t), options)
		is(t, err, "BadRequest", apierrors.IsBadRequest)
	}
}

func watchInvalid(t *testing.T, s *subject) {
	yes := true
	for _, options := range []metav1.ListOptions{
		{SendInitialEvents: &yes},
		{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
		{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Continue: "x"},
	} {
		_, err := claimsOf(t, s, scene).Watch(inTime(t), options)
		is(t, err, "Invalid", apierrors.IsInvalid)
	}
}

func watchSelection(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	first := addClaim(t, namespace, "a")
	options := metav1.ListOptions{LabelSelector: "step in (1,2)", ResourceVersion: first.ResourceVersion}
	stream, err := claimsOf(t, s, namespace).Watch(inTime(t), options)
	selected := follow(t, stream, err)
	for i := range 4 {
		step(t, namespace, "a", i+1)
	}
	step(t, namespace, "a", 1)
	removeClaim(t, namespace, "a")
	// An object that no longer matches is sent in its last matching state.
	selected.receives("ADDED a step 1", "MODIFIED a step 2", "DELETED a step 2", "ADDED a step 1")
	named := metav1.ListOptions{FieldSelector: "metadata.name=b", ResourceVersion: first.ResourceVersion}
	stream, err = claimsOf(t, s, namespace).Watch(inTime(t), named)
	one := follow(t, stream, err)
	addClaim(t, namespace, "c")
	addClaim(t, namespace, "b")
	one.receives("ADDED b step 0")
}

func watchOneOrder(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	first := addClaim(t, namespace, "a")
	addClaim(t, namespace, "b")
	changes := 1
	for i := range 5 {
		step(t, namespace, "a", i+1)
		step(t, namespace, "b", i+1)
		changes += 2
	}
	read := func() string {
		stream, err := claimsOf(t, s, namespace).Watch(inTime(t), metav1.ListOptions{ResourceVersion: first.ResourceVersion})
		each, seen := follow(t, stream, err), []string{}
		for range changes {
			seen = append(seen, each.received())
		}
		return strings.Join(seen, ", ")
	}
	order := read()
	equal(t, "the second watch", read(), order)
	if !strings.HasSuffix(order, "MODIFIED a step 5, MODIFIED b step 5") {
		t.Fatalf("not in the order of the changes: %s", order)
	}
}

func watchResumes(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	versions := []string{addClaim(t, namespace, "a").ResourceVersion}
	for i := range 4 {
		versions = append(versions, step(t, namespace, "a", i+1).ResourceVersion)
	}
	for from, version := range versions[:len(versions)-1] {
		stream, err := claimsOf(t, s, namespace).Watch(inTime(t), metav1.ListOptions{ResourceVersion: version})
		resumed := follow(t, stream, err)
		for i := from + 1; i < len(versions); i++ {
			event, _ := resumed.next()
			equal(t, "resourceVersion", must(meta.Accessor(event.Object))(t).GetResourceVersion(), versions[i])
		}
	}
}

func watchFromNow(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	addClaim(t, namespace, "a")
	waitFor(t, claimsOf(t, s, namespace), addClaim(t, namespace, "b").ResourceVersion)
	for _, version := range []string{"", "0"} {
		stream, err := claimsOf(t, s, namespace).Watch(inTime(t), metav1.ListOptions{ResourceVersion: version})
		now := follow(t, stream, err)
		seen := []string{now.received(), now.received()}
		slices.Sort(seen)
		equal(t, "state", strings.Join(seen, ", "), "ADDED a step 0, ADDED b step 0")
	}
}

func watchEnds(t *testing.T, s *subject) {
	seconds := int64(4)
	options := metav1.ListOptions{
		ResourceVersion: kubeVersion(t), AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	}
	stream, err := claimsOf(t, s, scene).Watch(inTime(t), options)
	timed, started := follow(t, stream, err), time.Now()
	var bookmark runtime.Object
	for {
		event, isOpen := timed.next()
		if !isOpen {
			break
		}
		equal(t, "type", event.Type, watch.Bookmark)
		bookmark = event.Object
	}
	if bookmark == nil {
		t.Fatal("no bookmark")
	}
	if kind := bookmark.GetObjectKind().GroupVersionKind(); kind != s.gv.WithKind("PersistentVolumeClaim") {
		t.Fatalf("the bookmark is a %s, which reflectors drop", kind)
	}
	if took := time.Since(started); took < 3*time.Second {
		t.Fatalf("ended after %s", took)
	}
}

// kubeVersion returns the current resource version.
func kubeVersion(t *testing.T) string {
	t.Helper()
	return must(kube.CoreV1().PersistentVolumeClaims(scene).List(inTime(t), metav1.ListOptions{}))(t).ResourceVersion
}

func watchMetadata(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	first := addClaim(t, namespace, "a")
	client := s.metadata(t).Resource(s.resource(claims)).Namespace(namespace)
	stream, err := client.Watch(inTime(t), metav1.ListOptions{ResourceVersion: first.ResourceVersion})
	seen := follow(t, stream, err)
	step(t, namespace, "a", 1)
	event, _ := seen.next()
	object, ok := event.Object.(*metav1.PartialObjectMetadata)
	if !ok {
		t.Fatalf("got %T, want PartialObjectMetadata", event.Object)
	}
	equal(t, "label", object.Labels["step"], "1")
	removeClaim(t, namespace, "a")
	for {
		if event, isOpen := seen.next(); !isOpen || event.Type == watch.Deleted {
			equal(t, "open", isOpen, true)
			break
		}
	}
	forgetful := s.metadata(t).Resource(s.resource(s.forgetful())).Namespace(namespace)
	stream, err = forgetful.Watch(inTime(t), metav1.ListOptions{ResourceVersion: "1"})
	holdExpired(t, follow(t, stream, err))
}
