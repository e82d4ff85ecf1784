package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi/cached"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/util/proto"
)

const groupVersionKind = "x-kubernetes-group-version-kind"

func TestOpenAPI(t *testing.T) {
	holds(t, []check{
		{"version 3 of the group is read, and the same when it was written and read again", openAPIRoundTrip},
		{"version 3 has an operation and a schema for each kind", openAPIKinds},
		{"a cached client asks for a document once", openAPICached},
		{"a document by its hash may be kept for ever", openAPIHash},
		{"a document by an old hash is the present one", openAPIOldHash},
		{"version 2 is read as kubectl reads it, and has each kind", openAPIV2},
	}, everywhere)
}

// openAPIOf polls: kube-apiserver fetches the documents of aggregated servers once a minute.
func openAPIOf(t *testing.T, s *subject) *spec3.OpenAPI {
	t.Helper()
	var document *spec3.OpenAPI
	var err error
	eventually(t, "the group has a document", func() bool {
		document, err = openapi3.NewRoot(s.discovery(t).OpenAPIV3()).GVSpec(s.gv)
		return err == nil
	})
	return document
}

func openAPIRoundTrip(t *testing.T, s *subject) {
	versions := must(openapi3.NewRoot(s.discovery(t).OpenAPIV3()).GroupVersions())(t)
	equal(t, "listed", slices.Contains(versions, s.gv), true)
	document := openAPIOf(t, s)
	again := &spec3.OpenAPI{}
	decode(t, must(json.Marshal(document))(t), again)
	if !reflect.DeepEqual(document, again) {
		t.Fatal("the document is another one after it was written and read again")
	}
	other := schema.GroupVersion{Group: s.gv.Group, Version: "v9"}
	if _, err := openapi3.NewRoot(s.discovery(t).OpenAPIV3()).GVSpec(other); err == nil {
		t.Fatal("an unknown version has a document")
	}
}

func openAPIKinds(t *testing.T, s *subject) {
	document := openAPIOf(t, s)
	for plural, want := range kinds {
		elements := []string{plural, "{name}"}
		if want.isNamespaced {
			elements = []string{"namespaces", "{namespace}", plural, "{name}"}
		}
		at := s.path(elements...)
		item := document.Paths.Paths[at]
		if item == nil || item.Get == nil {
			t.Fatalf("no get of %s", at)
		}
		kind := map[string]string{}
		decode(t, must(json.Marshal(item.Get.Extensions[groupVersionKind]))(t), &kind)
		equal(t, "kind of "+at, kind["kind"]+"."+kind["version"]+"."+kind["group"], want.kind+"."+s.gv.Version+"."+s.gv.Group)
		found := 0
		for _, one := range document.Components.Schemas {
			if slices.Contains(kindsOf(t, one.Extensions[groupVersionKind]), s.gv.WithKind(want.kind)) {
				found++
				equal(t, "properties of "+want.kind, len(one.Properties) >= 3, true)
			}
		}
		equal(t, "schemas of "+want.kind, found, 1)
	}
}

func kindsOf(t *testing.T, extension any) (kinds []schema.GroupVersionKind) {
	t.Helper()
	if extension != nil {
		decode(t, must(json.Marshal(extension))(t), &kinds)
	}
	return kinds
}

// keyOf returns the key of the subject in the index of OpenAPI version 3.
func keyOf(s *subject) string { return strings.TrimPrefix(s.path(), "/") }

func openAPICached(t *testing.T, s *subject) {
	asked := &recorded{}
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		asked.RoundTripper = next
		return asked
	})
	counted := *s
	counted.config = config
	client := cached.NewClient(memory.NewMemCacheClient(counted.discovery(t)).OpenAPIV3())
	for range 3 {
		document := must(client.Paths())(t)[keyOf(s)]
		if document == nil {
			t.Fatalf("%s is not listed", keyOf(s))
		}
		must(document.Schema("application/json"))(t)
	}
	equal(t, "requests", len(asked.queries), 2)
	equal(t, "a hash in the second", asked.queries[1].Get("hash") != "", true)
}

// answerAt is the response to a plain HTTP client, whether or not it follows redirects.
func answerAt(t *testing.T, s *subject, path string, headers map[string]string) (*http.Response, []byte) {
	t.Helper()
	client := must(rest.HTTPClientFor(s.config))(t)
	request := must(http.NewRequestWithContext(inTime(t), http.MethodGet, strings.TrimSuffix(s.config.Host, "/")+path, nil))(t)
	request.Header.Set("Accept", asJSON)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer := must(client.Do(request))(t)
	defer answer.Body.Close()
	return answer, must(io.ReadAll(answer.Body))(t)
}

// hashURL of the subject's document.
func hashURL(t *testing.T, s *subject) string {
	t.Helper()
	index := struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}{}
	_, body := answerAt(t, s, "/openapi/v3", nil)
	decode(t, body, &index)
	return index.Paths[keyOf(s)].ServerRelativeURL
}

func openAPIHash(t *testing.T, s *subject) {
	// The document may change between the index and the request.
	eventually(t, "a document by its hash may be kept", func() bool {
		url := hashURL(t, s)
		answer, body := answerAt(t, s, url, nil)
		equal(t, "code", answer.StatusCode, 200)
		equal(t, "JSON", json.Valid(body), true)
		tag := answer.Header.Get("ETag")
		// kube-apiserver lists its own documents before those of an aggregated server.
		if !slices.Contains(answer.Header.Values("Cache-Control"), "public, immutable") {
			return false
		}
		equal(t, "Expires", answer.Header.Get("Expires") != "", true)
		equal(t, "ETag", tag != "", true)
		again, _ := answerAt(t, s, url, map[string]string{"If-None-Match": tag})
		equal(t, "code with the ETag", again.StatusCode, 304)
		return true
	})
}

func openAPIOldHash(t *testing.T, s *subject) {
	path, _, _ := strings.Cut(hashURL(t, s), "?")
	answer, body := answerAt(t, s, path+"?hash=0123", nil)
	equal(t, "code", answer.StatusCode, 200)
	document := &spec3.OpenAPI{}
	decode(t, body, document)
	equal(t, "version", strings.HasPrefix(document.Version, "3."), true)
	if !s.isNative && slices.Contains(answer.Header.Values("Cache-Control"), "public, immutable") {
		t.Fatal("a document may be kept by a hash that it has not")
	}
}

func openAPIV2(t *testing.T, s *subject) {
	document := must(s.discovery(t).OpenAPISchema())(t)
	models := must(proto.NewOpenAPIData(document))(t)
	found := map[string]bool{}
	for _, name := range models.ListModels() {
		model := models.LookupModel(name)
		for _, one := range asList(model.GetExtensions()[groupVersionKind]) {
			kind, isMap := one.(map[any]any)
			if isMap && kind["group"] == s.gv.Group && kind["version"] == s.gv.Version {
				found[kind["kind"].(string)] = true
			}
		}
	}
	for _, want := range kinds {
		equal(t, "schema of "+want.kind, found[want.kind], true)
	}
}

func asList(extension any) []any {
	list, _ := extension.([]any)
	return list
}
