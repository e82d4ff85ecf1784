package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// claims are listed and watched: no controller changes unused ones.
const claims = "persistentvolumeclaims"

// claimsInScene is more than some pages, and not a multiple of a page.
const claimsInScene = 23

// kube writes the objects that the subjects read.
var kube *kubernetes.Clientset

// scene is a namespace of claims that nothing else changes.
var scene string

func makeScene(ctx context.Context, config *rest.Config) (remove func(), err error) {
	remove = func() {}
	if kube, err = kubernetes.NewForConfig(config); err != nil {
		return remove, err
	}
	if scene, err = makeNamespace(ctx); err != nil {
		return remove, err
	}
	remove = func() {
		for _, name := range append(pool.all, scene) {
			removeNamespace(name)
		}
	}
	version := ""
	for i := range claimsInScene {
		claim, err := makeClaim(ctx, scene, claimName(i))
		if err != nil {
			return remove, err
		}
		version = claim.ResourceVersion
	}
	// From here on every server has at least this state.
	for _, s := range subjects {
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return remove, err
		}
		options := metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
		list, err := client.Resource(s.resource(claims)).Namespace(scene).List(ctx, options)
		if err != nil {
			return remove, fmt.Errorf("%s: %w", s.name, err)
		}
		if len(list.Items) != claimsInScene {
			return remove, fmt.Errorf("%s: %d of %d claims at version %s", s.name, len(list.Items), claimsInScene, version)
		}
	}
	return remove, compact(ctx, version)
}

// compact removes old versions from etcd, as kube-apiserver does every five minutes, so that
// requests for them fail. Each kube-apiserver watches the compaction key and releases its own
// copies.
func compact(ctx context.Context, version string) error {
	base64Of := base64.StdEncoding.EncodeToString
	key := map[string]string{"key": base64Of([]byte("compact_rev_key")), "value": base64Of([]byte(version))}
	if err := askStore(ctx, "/v3/kv/put", key); err != nil {
		return err
	}
	return askStore(ctx, "/v3/kv/compaction", map[string]string{"revision": version})
}

func askStore(ctx context.Context, path string, question any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("ETCD_URL")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answered %s with %s", path, answer.Status)
	}
	return nil
}

func makeNamespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"}}
	made, err := kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Name, nil
}

func removeNamespace(name string) {
	if err := kube.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// pool contains unused namespaces for reuse, since kube-apiserver needs hundreds of requests to delete one.
var pool = struct {
	sync.Mutex
	free, all []string
}{}

// ownNamespace returns an empty namespace for a check that changes objects.
func ownNamespace(t *testing.T) (name string) {
	t.Helper()
	pool.Lock()
	if last := len(pool.free) - 1; last >= 0 {
		name, pool.free = pool.free[last], pool.free[:last]
	}
	pool.Unlock()
	if name == "" {
		name = must(makeNamespace(inTime(t)))(t)
		pool.Lock()
		pool.all = append(pool.all, name)
		pool.Unlock()
	}
	t.Cleanup(func() { giveBack(t, name) })
	return name
}

// giveBack empties a namespace, and waits until every server shows it empty.
func giveBack(t *testing.T, name string) {
	err := kube.CoreV1().PersistentVolumeClaims(name).DeleteCollection(inTime(t), metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects {
		eventually(t, name+" is empty", func() bool { return len(list(t, claimsOf(t, s, name), metav1.ListOptions{}).Items) == 0 })
	}
	pool.Lock()
	pool.free = append(pool.free, name)
	pool.Unlock()
}

func claimName(i int) string { return fmt.Sprintf("claim-%04d", i) }

func makeClaim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	class := ""
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"step": "0"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	return kube.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, claim, metav1.CreateOptions{})
}

func addClaim(t *testing.T, namespace, name string) *corev1.PersistentVolumeClaim {
	t.Helper()
	return must(makeClaim(inTime(t), namespace, name))(t)
}

// step increments a label of a claim: one change.
func step(t *testing.T, namespace, name string, to int) *corev1.PersistentVolumeClaim {
	t.Helper()
	patch := must(json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{"step": fmt.Sprint(to)}}}))(t)
	client := kube.CoreV1().PersistentVolumeClaims(namespace)
	return must(client.Patch(inTime(t), name, types.MergePatchType, patch, metav1.PatchOptions{}))(t)
}

func removeClaim(t *testing.T, namespace, name string) {
	t.Helper()
	if err := kube.CoreV1().PersistentVolumeClaims(namespace).Delete(inTime(t), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
