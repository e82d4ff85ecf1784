package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// kinds are the aggregated kinds and their native counterparts.
var kinds = map[string]struct {
	kind         string
	isNamespaced bool
}{
	"nodes":      {"Node", false},
	"namespaces": {"Namespace", false},
	"pods":       {"Pod", true},
	claims:       {"PersistentVolumeClaim", true},
}

const aggregatedV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func TestDiscovery(t *testing.T) {
	holds(t, []check{
		{"aggregated and legacy discovery tell the same of the group", discoveriesAgree},
		{"preferred resources have each kind", preferredResources},
		{"preferred namespaced resources have those in namespaces alone", preferredNamespaced},
		{"a resource and one that does not exist are distinguished", presentAndMissing},
		{"a REST mapper finds each kind, its scope and its resource", mapperFinds},
		{"a REST mapper finds all that the group serves, and each can be listed", mapperFindsAll},
		{"a cached client finds the group", cachedFinds},
		{"plain names stay kube-apiserver's own", plainNamesStay},
	}, everywhere)
}

// TestGroup: the discovery of the group, which has another path for the core group.
func TestGroup(t *testing.T) {
	holds(t, []check{
		{"is in /apis with its preferred version", groupInList},
		{"is a document of its own", groupDocument},
		{"is current in the aggregated document, with a kind for each answer", groupIsCurrent},
		{"has an ETag by which the document is not sent again", groupETag},
		{"is 406 in an unknown form", groupForm},
	}, ours)
}

func legacy(t *testing.T, s *subject) *discovery.DiscoveryClient {
	t.Helper()
	client := s.discovery(t)
	client.UseLegacyDiscovery = true
	return client
}

func resourcesOf(t *testing.T, s *subject, client discovery.DiscoveryInterface) []string {
	t.Helper()
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	return received(s, lists)
}

// received are the resources of the subject's group version, one per line.
func received(s *subject, lists []*metav1.APIResourceList) (lines []string) {
	for _, list := range lists {
		if list.GroupVersion != s.gv.String() {
			continue
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				verbs := slices.Sorted(slices.Values(r.Verbs))
				lines = append(lines, fmt.Sprint(r.Name, " ", r.SingularName, " ", r.Kind, " ", r.Namespaced, " ", verbs, " ", r.ShortNames))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func discoveriesAgree(t *testing.T, s *subject) {
	aggregated := resourcesOf(t, s, s.discovery(t))
	if len(aggregated) < len(kinds) {
		t.Fatalf("%d resources: %v", len(aggregated), aggregated)
	}
	equal(t, "legacy", strings.Join(resourcesOf(t, s, legacy(t, s)), "\n"), strings.Join(aggregated, "\n"))
	direct := must(s.discovery(t).ServerResourcesForGroupVersion(s.gv.String()))(t)
	equal(t, "of the group version", strings.Join(received(s, []*metav1.APIResourceList{direct}), "\n"), strings.Join(aggregated, "\n"))
}

// holdKinds compares the discovered kinds with the expected ones.
func holdKinds(t *testing.T, s *subject, lists []*metav1.APIResourceList, isWanted func(isNamespaced bool) bool) {
	t.Helper()
	found := map[string]metav1.APIResource{}
	for _, list := range lists {
		if list.GroupVersion != s.gv.String() {
			continue
		}
		for _, r := range list.APIResources {
			found[r.Name] = r
		}
	}
	for plural, want := range kinds {
		r, isFound := found[plural]
		equal(t, plural+" found", isFound, isWanted(want.isNamespaced))
		if isFound {
			equal(t, "kind of "+plural, r.Kind, want.kind)
			equal(t, "singular of "+plural, r.SingularName, strings.ToLower(want.kind))
			equal(t, plural+" in namespaces", r.Namespaced, want.isNamespaced)
		}
	}
}

func preferredResources(t *testing.T, s *subject) {
	for _, client := range []*discovery.DiscoveryClient{s.discovery(t), legacy(t, s)} {
		holdKinds(t, s, must(client.ServerPreferredResources())(t), func(bool) bool { return true })
	}
}

func preferredNamespaced(t *testing.T, s *subject) {
	lists := must(s.discovery(t).ServerPreferredNamespacedResources())(t)
	holdKinds(t, s, lists, func(isNamespaced bool) bool { return isNamespaced })
}

func presentAndMissing(t *testing.T, s *subject) {
	for plural, want := range map[string]bool{"nodes": true, claims: true, "nothings": false} {
		equal(t, plural, must(discovery.IsResourceEnabled(s.discovery(t), s.resource(plural)))(t), want)
	}
	other := s.gv.WithResource("nodes")
	other.Version = "v9"
	equal(t, "another version", must(discovery.IsResourceEnabled(s.discovery(t), other))(t), false)
	err := discovery.ServerSupportsVersion(s.discovery(t), s.gv)
	if s.gv.Group != "" && err != nil {
		t.Fatal(err)
	}
}

func mapperFinds(t *testing.T, s *subject) {
	groups := must(restmapper.GetAPIGroupResources(s.discovery(t)))(t)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for plural, want := range kinds {
		kind := must(mapper.KindFor(s.resource(plural)))(t)
		equal(t, plural, kind, s.gv.WithKind(want.kind))
		mapping := must(mapper.RESTMapping(kind.GroupKind(), kind.Version))(t)
		equal(t, "resource", mapping.Resource, s.resource(plural))
		equal(t, "in namespaces", mapping.Scope.Name() == meta.RESTScopeNameNamespace, want.isNamespaced)
		singular := must(mapper.ResourceFor(s.resource(strings.ToLower(want.kind))))(t)
		equal(t, "of the singular", singular, s.resource(plural))
	}
}

// mapperFindsAll also covers kinds without a counterpart in the core group.
func mapperFindsAll(t *testing.T, s *subject) {
	mapper := restmapper.NewDiscoveryRESTMapper(must(restmapper.GetAPIGroupResources(s.discovery(t)))(t))
	served := must(s.discovery(t).ServerResourcesForGroupVersion(s.gv.String()))(t)
	for _, r := range served.APIResources {
		if strings.Contains(r.Name, "/") || r.Group != "" && r.Group != s.gv.Group {
			continue
		}
		equal(t, r.Name, must(mapper.KindFor(s.resource(r.Name)))(t), s.gv.WithKind(r.Kind))
		if slices.Contains(r.Verbs, "list") {
			must(s.dynamic(t).Resource(s.resource(r.Name)).List(inTime(t), metav1.ListOptions{Limit: 1}))(t)
		}
	}
}

func cachedFinds(t *testing.T, s *subject) {
	cached := memory.NewMemCacheClient(s.discovery(t))
	for range 2 {
		holdKinds(t, s, must(discovery.ServerPreferredResources(cached))(t), func(bool) bool { return true })
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	equal(t, "kind", must(mapper.KindFor(s.resource("nodes")))(t), s.gv.WithKind("Node"))
}

func plainNamesStay(t *testing.T, s *subject) {
	cached := memory.NewMemCacheClient(s.discovery(t))
	warn := func(text string) { t.Errorf("a warning: %s", text) }
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, warn)
	for plain, plural := range map[string]string{"nodes": "nodes", "no": "nodes", "pvc": claims, "po": "pods"} {
		found := must(mapper.ResourceFor(subjects[0].gv.WithResource(plain)))(t)
		equal(t, plain, found, subjects[0].resource(plural))
		found = must(mapper.ResourceFor(subjects[0].gv.WithResource(plain).GroupResource().WithVersion("")))(t)
		equal(t, plain+" without a version", found, subjects[0].resource(plural))
	}
}

func groupAt(t *testing.T, s *subject, path, accept string) *rest.Request {
	t.Helper()
	return s.discovery(t).RESTClient().Get().AbsPath(path).SetHeader("Accept", accept)
}

func holdGroup(t *testing.T, s *subject, group metav1.APIGroup) {
	t.Helper()
	equal(t, "preferred version", group.PreferredVersion.GroupVersion, s.gv.String())
	equal(t, "versions", fmt.Sprint(group.Versions), fmt.Sprint([]metav1.GroupVersionForDiscovery{group.PreferredVersion}))
}

func groupInList(t *testing.T, s *subject) {
	for _, path := range []string{"/apis", "/apis/"} {
		all := metav1.APIGroupList{}
		decode(t, must(groupAt(t, s, path, asJSON).Do(inTime(t)).Raw())(t), &all)
		equal(t, "kind", all.Kind, "APIGroupList")
		at := slices.IndexFunc(all.Groups, func(g metav1.APIGroup) bool { return g.Name == s.gv.Group })
		if at < 0 {
			t.Fatalf("%s is not in %s", s.gv.Group, path)
		}
		holdGroup(t, s, all.Groups[at])
	}
}

func groupDocument(t *testing.T, s *subject) {
	group := metav1.APIGroup{}
	decode(t, must(groupAt(t, s, "/apis/"+s.gv.Group, asJSON).Do(inTime(t)).Raw())(t), &group)
	equal(t, "kind", group.Kind, "APIGroup")
	equal(t, "name", group.Name, s.gv.Group)
	holdGroup(t, s, group)
}

func groupIsCurrent(t *testing.T, s *subject) {
	all := apidiscovery.APIGroupDiscoveryList{}
	result := groupAt(t, s, "/apis", aggregatedV2+","+asJSON).Do(inTime(t))
	contentType := ""
	decode(t, must(result.ContentType(&contentType).Raw())(t), &all)
	equal(t, "content type", contentType, aggregatedV2)
	at := slices.IndexFunc(all.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == s.gv.Group })
	if at < 0 {
		t.Fatalf("%s is not in the discovery", s.gv.Group)
	}
	equal(t, "versions", len(all.Items[at].Versions), 1)
	version := all.Items[at].Versions[0]
	equal(t, "freshness", version.Freshness, apidiscovery.DiscoveryFreshnessCurrent)
	for _, r := range version.Resources {
		if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
			t.Fatalf("%s has no kind: clients leave it out", r.Resource)
		}
		equal(t, "group of "+r.Resource, r.ResponseKind.Group, s.gv.Group)
		if slices.Contains(r.ShortNames, "no") || slices.Contains(r.Categories, "all") {
			t.Fatalf("%s takes what belongs to kube-apiserver's own", r.Resource)
		}
	}
}

func groupETag(t *testing.T, s *subject) {
	client := must(rest.HTTPClientFor(s.config))(t)
	ask := func(tag string) *http.Response {
		request := must(http.NewRequestWithContext(inTime(t), http.MethodGet, strings.TrimSuffix(s.config.Host, "/")+"/apis", nil))(t)
		request.Header.Set("Accept", aggregatedV2)
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		answer := must(client.Do(request))(t)
		answer.Body.Close()
		return answer
	}
	// Other tests create and remove groups.
	eventually(t, "a document that has not changed is 304", func() bool {
		first := ask("")
		equal(t, "code", first.StatusCode, 200)
		tag := first.Header.Get("ETag")
		equal(t, "ETag in quotes", strings.HasPrefix(tag, `"`) && strings.HasSuffix(tag, `"`), true)
		equal(t, "Vary", strings.Contains(first.Header.Get("Vary"), "Accept"), true)
		return ask(tag).StatusCode == 304
	})
}

func groupForm(t *testing.T, s *subject) {
	err := groupAt(t, s, "/apis/"+s.gv.Group, "text/csv").Do(inTime(t)).Error()
	is(t, err, "NotAcceptable", apierrors.IsNotAcceptable)
}
