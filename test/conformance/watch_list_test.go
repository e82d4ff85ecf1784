package conformance

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

func TestWatchList(t *testing.T) {
	checks := []check{
		{"the first state of a watch of metadata ends with its bookmark", watchListOfMetadata},
		{"a first state that is empty ends too", watchListOfNothing},
		{"no first state is sent to who wants none", watchListUnwanted},
		{"a metadata informer begins by it, and lists nothing", informerOfMetadata},
	}
	for _, accept := range []string{asJSON, protobufOrJSON} {
		checks = append(checks,
			check{"the first state ends with its bookmark, accepting " + accept, func(t *testing.T, s *subject) {
				watchListTyped(t, s, accept)
			}},
			check{"an informer of typed objects begins by it, accepting " + accept, func(t *testing.T, s *subject) {
				informerOfClaims(t, s, accept)
			}})
	}
	holds(t, checks, everywhere)
}

// firstState are the list options of informers for the initial events.
func firstState(t *testing.T) metav1.ListOptions {
	t.Helper()
	options, isPrepared, err := watchlist.PrepareWatchListOptionsFromListOptions(metav1.ListOptions{})
	if err != nil || !isPrepared {
		t.Fatalf("no options for a watch list: %v", err)
	}
	return options
}

// readFirstState reads up to the bookmark and returns the names, and the version of the bookmark.
func readFirstState(t *testing.T, stream events) (names []string, version uint64) {
	t.Helper()
	newest := uint64(0)
	for {
		event, isOpen := stream.next()
		equal(t, "open", isOpen, true)
		object := must(meta.Accessor(event.Object))(t)
		at := must(strconv.ParseUint(object.GetResourceVersion(), 10, 64))(t)
		if event.Type == watch.Bookmark {
			equal(t, "annotation", object.GetAnnotations()[metav1.InitialEventsAnnotationKey], "true")
			if at < newest {
				t.Fatalf("the first state ends at version %d and holds %d", at, newest)
			}
			return names, at
		}
		equal(t, "type", event.Type, watch.Added)
		names, newest = append(names, object.GetName()), max(newest, at)
	}
}

func holdScene(t *testing.T, names []string) {
	t.Helper()
	slices.Sort(names)
	equal(t, "names", joined(names), namesFrom(0, claimsInScene))
}

func watchListTyped(t *testing.T, s *subject, accept string) {
	names, _ := readFirstState(t, watchIn(t, s.rest(t, accept), scene, claims, firstState(t)))
	holdScene(t, names)
	namespace, options := ownNamespace(t), firstState(t)
	options.ResourceVersion = addClaim(t, namespace, "a").ResourceVersion
	stream := watchIn(t, s.rest(t, accept), namespace, claims, options)
	if names, _ := readFirstState(t, stream); joined(names) != "a" {
		t.Fatalf("a state of %q, which has not what was written before", joined(names))
	}
	step(t, namespace, "a", 1)
	stream.receives("MODIFIED a step 1")
}

func watchListOfMetadata(t *testing.T, s *subject) {
	stream, err := s.metadata(t).Resource(s.resource(claims)).Namespace(scene).Watch(inTime(t), firstState(t))
	names, _ := readFirstState(t, follow(t, stream, err))
	holdScene(t, names)
}

func watchListOfNothing(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	stream := watchIn(t, s.rest(t, asJSON), namespace, claims, firstState(t))
	names, _ := readFirstState(t, stream)
	equal(t, "names", joined(names), "")
	addClaim(t, namespace, "a")
	stream.receives("ADDED a step 0")
}

func watchListUnwanted(t *testing.T, s *subject) {
	namespace, no := ownNamespace(t), false
	waitFor(t, claimsOf(t, s, namespace), addClaim(t, namespace, "a").ResourceVersion)
	options := metav1.ListOptions{SendInitialEvents: &no, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	stream := watchIn(t, s.rest(t, asJSON), namespace, claims, options)
	addClaim(t, namespace, "b")
	stream.receives("ADDED b step 0")
}

// recorded notes the query of each request.
type recorded struct {
	http.RoundTripper
	lock    sync.Mutex
	queries []url.Values
}

func (r *recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	r.lock.Lock()
	r.queries = append(r.queries, request.URL.Query())
	r.lock.Unlock()
	return r.RoundTripper.RoundTrip(request)
}

// lists are the requests that were not watches.
func (r *recorded) lists() (count int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, query := range r.queries {
		if query.Get("watch") != "true" && query.Get("watch") != "1" {
			count++
		}
	}
	return count
}

// informs checks that an informer receives the claims of a namespace: the initial ones, and a
// change.
func informs(t *testing.T, informer cache.SharedIndexInformer, namespace string) {
	t.Helper()
	ctx, cancel := context.WithCancel(inTime(t))
	t.Cleanup(cancel)
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("not synced in time")
	}
	eventually(t, "the informer has both objects", func() bool { return len(informer.GetStore().ListKeys()) == 2 })
	changed := step(t, namespace, "a", 1)
	removeClaim(t, namespace, "b")
	eventually(t, "the informer has the change and not what was deleted", func() bool {
		object, isThere, err := informer.GetStore().GetByKey(namespace + "/a")
		if err != nil || !isThere || len(informer.GetStore().ListKeys()) != 1 {
			return false
		}
		return must(meta.Accessor(object))(t).GetResourceVersion() == changed.ResourceVersion
	})
}

func twoClaims(t *testing.T) (namespace string) {
	t.Helper()
	namespace = ownNamespace(t)
	addClaim(t, namespace, "a")
	addClaim(t, namespace, "b")
	return namespace
}

func informerOfMetadata(t *testing.T, s *subject) {
	namespace, asked := twoClaims(t), &recorded{}
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		asked.RoundTripper = next
		return asked
	})
	client := must(metadata.NewForConfig(config))(t)
	informer := metadatainformer.NewFilteredMetadataInformer(client, s.resource(claims), namespace, time.Duration(0), nil, nil)
	informs(t, informer.Informer(), namespace)
	equal(t, "lists", asked.lists(), 0)
}

func informerOfClaims(t *testing.T, s *subject, accept string) {
	namespace, client := twoClaims(t), s.rest(t, accept)
	source := &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return nil, errors.New("a list, although the first state can be watched")
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch = true
			request := client.Get().Namespace(namespace).Resource(claims).VersionedParams(&options, metav1.ParameterCodec)
			return request.Watch(ctx)
		},
	}
	informs(t, cache.NewSharedIndexInformer(source, &corev1.PersistentVolumeClaim{}, 0, cache.Indexers{}), namespace)
}
