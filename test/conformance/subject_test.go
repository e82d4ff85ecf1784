package conformance

import (
	"errors"
	"fmt"
	"os"
	"path"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// subject is one API: a group version at a server.
type subject struct {
	name   string
	config *rest.Config
	gv     schema.GroupVersion
	// isNative means kube-apiserver's own API: if it fails, the check is wrong.
	isNative bool
	// isFront reports that the server is kapis-apiserver and not kube-apiserver.
	isFront bool
}

// subjects are the aggregated API through both servers, and its native counterpart through both servers.
var subjects []*subject

func makeSubjects(kube *rest.Config) error {
	domain, url, ca, token := os.Getenv("KAPIS_GROUP_DOMAIN"), os.Getenv("KAPIS_URL"), os.Getenv("KAPIS_CA"), os.Getenv("KAPIS_TOKEN")
	if domain == "" || url == "" || ca == "" || token == "" {
		return errors.New("KAPIS_GROUP_DOMAIN, KAPIS_URL, KAPIS_CA and KAPIS_TOKEN must be set")
	}
	front, err := clientcmd.BuildConfigFromFlags(url, "")
	if err != nil {
		return err
	}
	front.CAFile, front.BearerToken = ca, token
	for _, config := range []*rest.Config{kube, front} {
		// Client-side limits are not under test.
		config.QPS = -1
	}
	ours := schema.GroupVersion{Group: "resources." + domain, Version: "v1alpha3"}
	subjects = []*subject{
		{name: "native", config: kube, gv: corev1.SchemeGroupVersion, isNative: true},
		{name: "aggregated", config: kube, gv: ours},
		{name: "front", config: front, gv: ours, isFront: true},
		{name: "proxied", config: front, gv: corev1.SchemeGroupVersion, isNative: true, isFront: true},
	}
	return nil
}

func (s *subject) resource(plural string) schema.GroupVersionResource {
	return s.gv.WithResource(plural)
}

// forgetful is a plural of which no server has the first changes any more. kube-apiserver keeps everything
// since its start, except events.
func (s *subject) forgetful() string {
	if s.isNative {
		return "events"
	}
	return claims
}

// path joins the path of the group version and elements.
func (s *subject) path(elements ...string) string {
	root := "/apis/" + s.gv.String()
	if s.gv.Group == "" {
		root = "/api/" + s.gv.Version
	}
	return path.Join(append([]string{root}, elements...)...)
}

func (s *subject) dynamic(t *testing.T) dynamic.Interface {
	t.Helper()
	return must(dynamic.NewForConfig(s.config))(t)
}

func (s *subject) metadata(t *testing.T) metadata.Interface {
	t.Helper()
	return must(metadata.NewForConfig(s.config))(t)
}

func (s *subject) discovery(t *testing.T) *discovery.DiscoveryClient {
	t.Helper()
	return must(discovery.NewDiscoveryClientForConfig(s.config))(t)
}

// rest is a typed client: the group serves native kinds, so their Go types fit.
func (s *subject) rest(t *testing.T, accept string) *rest.RESTClient {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(s.gv,
		&corev1.Node{}, &corev1.NodeList{}, &corev1.Pod{}, &corev1.PodList{}, &corev1.Namespace{}, &corev1.NamespaceList{},
		&corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{})
	metav1.AddToGroupVersion(scheme, s.gv)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(s.config)
	config.APIPath = "/apis"
	if s.gv.Group == "" {
		config.APIPath = "/api"
	}
	config.GroupVersion = &s.gv
	config.AcceptContentTypes = accept
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return must(rest.RESTClientFor(config))(t)
}

// must ends the test if a call has failed.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// is checks how client-go classifies an error.
func is(t *testing.T, err error, kind string, matches func(error) bool) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", kind)
	}
	if !matches(err) {
		t.Fatalf("want %s, got %s", kind, describe(err))
	}
}

func describe(err error) string {
	return fmt.Sprintf("%T: %v", err, err)
}
