package conformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"
)

const chunk = 5

func TestChunking(t *testing.T) {
	holds(t, []check{
		{"chunks make up the whole list, in one state", chunksMakeUpTheWhole},
		{"a chunk that holds all has no continue token", allInOneChunk},
		{"chunks stay in the state in which they began", chunksKeepTheirState},
		{"with a selector the rest is not counted", selectedChunks},
		{"a limit and a version begin in exactly that version", limitAtVersion},
		{"a token of a state that is gone is 410 Expired, and brings one to go on with", expiredToken},
		{"a token that is none is 400", brokenToken},
		{"a token does not go with a version", tokenWithVersion},
		{"the pager sees each item once", pagerSeesEachOnce},
		{"the pager lists all when its token has expired", pagerFallsBack},
	}, everywhere)
}

func claimsOf(t *testing.T, s *subject, namespace string) dynamic.ResourceInterface {
	t.Helper()
	return s.dynamic(t).Resource(s.resource(claims)).Namespace(namespace)
}

func list(t *testing.T, client dynamic.ResourceInterface, options metav1.ListOptions) *unstructured.UnstructuredList {
	t.Helper()
	return must(client.List(inTime(t), options))(t)
}

// holdRest checks the counts of a chunk; seen is the number of items in earlier chunks.
func holdRest(t *testing.T, page *unstructured.UnstructuredList, seen, total int) {
	t.Helper()
	rest := page.GetRemainingItemCount()
	if page.GetContinue() == "" {
		if rest != nil {
			t.Fatalf("the last chunk says that %d remain", *rest)
		}
		return
	}
	if rest == nil {
		t.Fatal("a chunk that is not the last does not say how many remain")
	}
	equal(t, "seen and remaining", seen+len(page.Items)+int(*rest), total)
}

// walk follows continue tokens from options to the end and returns the names.
func walk(t *testing.T, client dynamic.ResourceInterface, options metav1.ListOptions, seen, total int) (names []string, version string) {
	t.Helper()
	for {
		page := list(t, client, options)
		if version == "" {
			version = page.GetResourceVersion()
		}
		equal(t, "resourceVersion of a later chunk", page.GetResourceVersion(), version)
		if len(page.Items) > int(options.Limit) {
			t.Fatalf("%d items with a limit of %d", len(page.Items), options.Limit)
		}
		holdRest(t, page, seen+len(names), total)
		for _, item := range page.Items {
			names = append(names, item.GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return names, version
		}
	}
}

func joined(names []string) string { return strings.Join(names, " ") }

func namesFrom(first, total int) string {
	names := []string{}
	for i := first; i < total; i++ {
		names = append(names, claimName(i))
	}
	return joined(names)
}

func chunksMakeUpTheWhole(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	for range 3 {
		names, _ := walk(t, client, metav1.ListOptions{Limit: chunk}, 0, claimsInScene)
		equal(t, "names", joined(names), namesFrom(0, claimsInScene))
	}
}

func allInOneChunk(t *testing.T, s *subject) {
	for _, limit := range []int64{0, claimsInScene, claimsInScene + 1} {
		page := list(t, claimsOf(t, s, scene), metav1.ListOptions{Limit: limit})
		equal(t, "items", len(page.Items), claimsInScene)
		equal(t, "continue", page.GetContinue(), "")
		holdRest(t, page, 0, claimsInScene)
	}
}

func chunksKeepTheirState(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	for i := range 4 {
		addClaim(t, namespace, claimName(i))
	}
	changed := step(t, namespace, claimName(3), 1)
	client := claimsOf(t, s, namespace)
	waitFor(t, client, changed.ResourceVersion)
	first := list(t, client, metav1.ListOptions{Limit: 2})
	addClaim(t, namespace, claimName(9))
	changed = step(t, namespace, claimName(3), 2)
	waitFor(t, client, changed.ResourceVersion)
	second := list(t, client, metav1.ListOptions{Limit: 5, Continue: first.GetContinue()})
	equal(t, "items", len(second.Items), 2)
	equal(t, "resourceVersion", second.GetResourceVersion(), first.GetResourceVersion())
	equal(t, "label in the state of the first chunk", second.Items[1].GetLabels()["step"], "1")
	equal(t, "items afterwards", len(list(t, client, metav1.ListOptions{}).Items), 5)
}

// waitFor waits until the subject has reached a version.
func waitFor(t *testing.T, client dynamic.ResourceInterface, version string) {
	t.Helper()
	list(t, client, metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
}

func selectedChunks(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	options := metav1.ListOptions{Limit: chunk, LabelSelector: "step=0"}
	count := 0
	for {
		page := list(t, client, options)
		if rest := page.GetRemainingItemCount(); rest != nil {
			t.Fatalf("%d are said to remain", *rest)
		}
		count += len(page.Items)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	equal(t, "items", count, claimsInScene)
}

func limitAtVersion(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	before := addClaim(t, namespace, claimName(0))
	client := claimsOf(t, s, namespace)
	waitFor(t, client, before.ResourceVersion)
	after := addClaim(t, namespace, claimName(1))
	waitFor(t, client, after.ResourceVersion)
	for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchExact} {
		page := list(t, client, metav1.ListOptions{Limit: chunk, ResourceVersion: before.ResourceVersion, ResourceVersionMatch: match})
		equal(t, "resourceVersion", page.GetResourceVersion(), before.ResourceVersion)
		equal(t, "items", len(page.Items), 1)
	}
}

// outdated is a continue token whose snapshot no longer exists. kube-apiserver
// compacts every 15 seconds.
func outdated(t *testing.T, client dynamic.ResourceInterface, token string) string {
	t.Helper()
	token = atVersionOne(t, token)
	eventually(t, "the token expires", func() bool {
		_, err := client.List(inTime(t), metav1.ListOptions{Limit: chunk, Continue: token})
		return err != nil
	})
	return token
}

func atVersionOne(t *testing.T, token string) string {
	t.Helper()
	members := map[string]any{}
	if err := json.Unmarshal(must(base64.RawURLEncoding.DecodeString(token))(t), &members); err != nil {
		t.Fatal(err)
	}
	if _, ok := members["rv"]; !ok {
		t.Fatalf("a continue token without a version: %v", members)
	}
	members["rv"] = 1
	return base64.RawURLEncoding.EncodeToString(must(json.Marshal(members))(t))
}

func expiredToken(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	first := list(t, client, metav1.ListOptions{Limit: chunk})
	// Later changes are not part of the snapshot of the first chunk.
	waitFor(t, client, addClaim(t, ownNamespace(t), claimName(0)).ResourceVersion)
	_, err := client.List(inTime(t), metav1.ListOptions{Limit: chunk, Continue: outdated(t, client, first.GetContinue())})
	is(t, err, "Expired", apierrors.IsResourceExpired)
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("no Status: %s", describe(err))
	}
	equal(t, "code", status.Status().Code, 410)
	fresh := status.Status().ListMeta.Continue
	if fresh == "" {
		t.Fatal("no token to go on with")
	}
	names, version := walk(t, client, metav1.ListOptions{Limit: chunk, Continue: fresh}, chunk, claimsInScene)
	equal(t, "names", joined(names), namesFrom(chunk, claimsInScene))
	if version == first.GetResourceVersion() {
		t.Fatalf("the rest claims to be in state %s, in which the list began", version)
	}
}

func brokenToken(t *testing.T, s *subject) {
	for _, token := range []string{"none", "e30", "%%%"} {
		_, err := claimsOf(t, s, scene).List(inTime(t), metav1.ListOptions{Limit: chunk, Continue: token})
		is(t, err, "BadRequest", apierrors.IsBadRequest)
	}
}

func tokenWithVersion(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	first := list(t, client, metav1.ListOptions{Limit: chunk})
	options := metav1.ListOptions{Limit: chunk, Continue: first.GetContinue(), ResourceVersion: first.GetResourceVersion()}
	_, err := client.List(inTime(t), options)
	is(t, err, "BadRequest", apierrors.IsBadRequest)
}

func pagerSeesEachOnce(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, options)
	})
	pages.PageSize = chunk
	names := []string{}
	err := pages.EachListItem(inTime(t), metav1.ListOptions{}, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		names = append(names, object.GetName())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "names", joined(names), namesFrom(0, claimsInScene))
}

func pagerFallsBack(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	asked := []metav1.ListOptions{}
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		asked = append(asked, options)
		if options.Continue != "" {
			options.Continue = outdated(t, client, options.Continue)
		}
		return client.List(ctx, options)
	})
	pages.PageSize = chunk
	result, isPaged, err := pages.List(inTime(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "items", meta.LenList(result), claimsInScene)
	equal(t, "paged", isPaged, true)
	equal(t, "requests", len(asked), 3)
	equal(t, "limit of the last request", asked[2].Limit, 0)
}
