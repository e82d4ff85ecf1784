package conformance

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
)

var halves = [][2]string{
	{"0x0000000000000000", "0x8000000000000000"},
	{"0x8000000000000000", "0x10000000000000000"},
}

// TestShards checks shardSelector (KEP-5866) by apimachinery: kube-apiserver itself ignores it
// while its feature gate is off.
func TestShards(t *testing.T) {
	holds(t, []check{
		{"lists of all shards make up the whole list", shardsMakeUpTheWhole},
		{"chunks of a shard stay in it", shardChunks},
		{"a watch sends the events of its shard", shardWatch},
		{"an invalid shardSelector is 400", shardInvalid},
	}, func(s *subject) bool { return !s.isNative })
}

func shardSelector(half int) string {
	return fmt.Sprintf("shardRange(object.metadata.uid, '%s', '%s')", halves[half][0], halves[half][1])
}

func isInHalf(uid types.UID, half int) bool {
	hash := "0x" + sharding.HashField(string(uid))
	return !sharding.HexLess(hash, halves[half][0]) && sharding.HexLess(hash, halves[half][1])
}

// holdShard checks that a list contains only its shard, and returns the names in it.
func holdShard(t *testing.T, page *unstructured.UnstructuredList, half int) (names []string) {
	t.Helper()
	selector, _, err := unstructured.NestedString(page.Object, "metadata", "shardInfo", "selector")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "shardInfo.selector", selector, shardSelector(half))
	if rest := page.GetRemainingItemCount(); rest != nil {
		t.Fatalf("a shard says that %d items remain", *rest)
	}
	for _, item := range page.Items {
		equal(t, "shard of "+item.GetName(), isInHalf(item.GetUID(), half), true)
		names = append(names, item.GetName())
	}
	return names
}

func shardsMakeUpTheWhole(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	var names []string
	for half := range halves {
		names = append(names, holdShard(t, list(t, client, metav1.ListOptions{ShardSelector: shardSelector(half)}), half)...)
	}
	slices.Sort(names)
	equal(t, "claims", len(names), claimsInScene)
	equal(t, "different claims", len(slices.Compact(names)), claimsInScene)
	both := shardSelector(0) + " || " + shardSelector(1)
	equal(t, "claims of both", len(list(t, client, metav1.ListOptions{ShardSelector: both}).Items), claimsInScene)
}

func shardChunks(t *testing.T, s *subject) {
	client := claimsOf(t, s, scene)
	want := holdShard(t, list(t, client, metav1.ListOptions{ShardSelector: shardSelector(0)}), 0)
	options := metav1.ListOptions{ShardSelector: shardSelector(0), Limit: 2}
	var names []string
	for {
		page := list(t, client, options)
		names = append(names, holdShard(t, page, 0)...)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	equal(t, "names", fmt.Sprint(names), fmt.Sprint(want))
}

func shardWatch(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	first := addClaim(t, namespace, "first")
	client := claimsOf(t, s, namespace)
	stream, err := client.Watch(inTime(t), metav1.ListOptions{
		ResourceVersion: first.ResourceVersion,
		ShardSelector:   shardSelector(0),
	})
	seen := follow(t, stream, err)
	var want []string
	for i := range 12 {
		name := fmt.Sprintf("claim-%d", i)
		if isInHalf(addClaim(t, namespace, name).UID, 0) {
			want = append(want, name)
		}
	}
	for _, name := range want {
		event, isOpen := seen.next()
		equal(t, "open", isOpen, true)
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			t.Fatalf("got %T", event.Object)
		}
		equal(t, "event", fmt.Sprint(event.Type, object.GetName()), fmt.Sprint("ADDED", name))
	}
}

func shardInvalid(t *testing.T, s *subject) {
	for _, selector := range []string{" ", "x", "shardRange(object.metadata.uid, '0x0', '0x8')"} {
		_, err := claimsOf(t, s, scene).List(inTime(t), metav1.ListOptions{ShardSelector: selector})
		is(t, err, "BadRequest", apierrors.IsBadRequest)
	}
}
