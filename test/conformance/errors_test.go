package conformance

import (
	"errors"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

func TestErrors(t *testing.T) {
	holds(t, []check{
		{"what is not there is NotFound, with its name and kind", notFound},
		{"a kind that is not served is NotFound", kindNotFound},
		{"without permissions is Forbidden, with the reason", forbidden},
		{"who is not known is Unauthorized", unauthorized},
		{"options that cannot be read are BadRequest", badOptions},
		{"options that contradict each other are Invalid", invalidOptions},
		{"a version ahead of all others is a Timeout that says so", versionAhead},
		{"a version that is gone is Expired", versionGone},
		{"a time that is none is BadRequest", badTimeout},
	}, everywhere)
}

// TestReadOnly: the aggregated API is read-only.
func TestReadOnly(t *testing.T) {
	holds(t, []check{{"every way to write is MethodNotSupported", writes}}, ours)
}

func statusOf(t *testing.T, err error) metav1.Status {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("no Status: %s", describe(err))
	}
	return status.Status()
}

func notFound(t *testing.T, s *subject) {
	_, err := claimsOf(t, s, scene).Get(inTime(t), "none", metav1.GetOptions{})
	is(t, err, "NotFound", apierrors.IsNotFound)
	status := statusOf(t, err)
	equal(t, "message", status.Message, s.resource(claims).GroupResource().String()+` "none" not found`)
	equal(t, "name", status.Details.Name, "none")
	equal(t, "group", status.Details.Group, s.gv.Group)
	equal(t, "kind", status.Details.Kind, claims)
}

func kindNotFound(t *testing.T, s *subject) {
	for _, plural := range []string{"nothings", "nodes/nothing"} {
		name, sub, _ := strings.Cut(plural, "/")
		client := s.dynamic(t).Resource(s.resource(name))
		_, err := client.List(inTime(t), metav1.ListOptions{})
		if sub != "" {
			_, err = client.Get(inTime(t), "control-plane-0", metav1.GetOptions{}, sub)
		}
		is(t, err, "NotFound", apierrors.IsNotFound)
		equal(t, "message", statusOf(t, err).Message, "the server could not find the requested resource")
	}
}

// as is the subject with the credentials of another user.
func (s *subject) as(token string) *subject {
	config := rest.AnonymousClientConfig(s.config)
	config.QPS = -1
	config.BearerToken = token
	other := *s
	other.config = config
	return &other
}

func forbidden(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "unprivileged-"}}
	accounts := kube.CoreV1().ServiceAccounts(namespace)
	account = must(accounts.Create(inTime(t), account, metav1.CreateOptions{}))(t)
	token := must(accounts.CreateToken(inTime(t), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	client := s.as(token.Status.Token).dynamic(t)
	who, kind := "system:serviceaccount:"+namespace+":"+account.Name, s.resource("nodes").GroupResource().String()
	_, err := client.Resource(s.resource("nodes")).List(inTime(t), metav1.ListOptions{})
	is(t, err, "Forbidden", apierrors.IsForbidden)
	equal(t, "message", statusOf(t, err).Message, kind+` is forbidden: User "`+who+`" cannot list resource "nodes" in API group "`+
		s.gv.Group+`" at the cluster scope`)
	_, err = client.Resource(s.resource(claims)).Namespace(scene).Get(inTime(t), claimName(0), metav1.GetOptions{})
	is(t, err, "Forbidden", apierrors.IsForbidden)
	equal(t, "name", statusOf(t, err).Details.Name, claimName(0))
	_, err = client.Resource(s.resource(claims)).Namespace(scene).Watch(inTime(t), metav1.ListOptions{})
	is(t, err, "Forbidden", apierrors.IsForbidden)
	err = client.Resource(s.resource("nodes")).Delete(inTime(t), "none", metav1.DeleteOptions{})
	is(t, err, "Forbidden", apierrors.IsForbidden)
}

func unauthorized(t *testing.T, s *subject) {
	_, err := s.as("none").dynamic(t).Resource(s.resource("nodes")).List(inTime(t), metav1.ListOptions{})
	is(t, err, "Unauthorized", apierrors.IsUnauthorized)
	equal(t, "code", statusOf(t, err).Code, 401)
}

func refusedList(t *testing.T, s *subject, options metav1.ListOptions) error {
	t.Helper()
	_, err := claimsOf(t, s, scene).List(inTime(t), options)
	return err
}

func badOptions(t *testing.T, s *subject) {
	for _, options := range []metav1.ListOptions{
		{LabelSelector: "a in"}, {LabelSelector: "a b"}, {FieldSelector: "none"}, {FieldSelector: "spec.none=1"},
		{ResourceVersion: "none"}, {ResourceVersion: "-1"},
	} {
		is(t, refusedList(t, s, options), "BadRequest", apierrors.IsBadRequest)
	}
}

func invalidOptions(t *testing.T, s *subject) {
	yes := true
	for _, options := range []metav1.ListOptions{
		{ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersionMatch: metav1.ResourceVersionMatchExact, ResourceVersion: "0"},
		{ResourceVersionMatch: "Other", ResourceVersion: "1"},
		{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, ResourceVersion: "1", Continue: "x"},
		{SendInitialEvents: &yes},
	} {
		err := refusedList(t, s, options)
		is(t, err, "Invalid", apierrors.IsInvalid)
		equal(t, "kind", statusOf(t, err).Details.Kind, "ListOptions")
	}
}

func versionAhead(t *testing.T, s *subject) {
	options := metav1.ListOptions{ResourceVersion: "900000000", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	request := s.rest(t, asJSON).Get().Namespace(scene).Resource(claims).VersionedParams(&options, metav1.ParameterCodec)
	// Otherwise the client retries according to the response.
	err := request.MaxRetries(0).Do(inTime(t)).Error()
	is(t, err, "Timeout", apierrors.IsTimeout)
	if !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Fatalf("the cause is not said: %s", describe(err))
	}
	if seconds, isFound := apierrors.SuggestsClientDelay(err); !isFound || seconds < 1 {
		t.Fatalf("no time to try again after: %d", seconds)
	}
}

func versionGone(t *testing.T, s *subject) {
	client := s.dynamic(t).Resource(s.resource(s.forgetful())).Namespace(scene)
	_, err := client.List(inTime(t), metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	is(t, err, "Expired", apierrors.IsResourceExpired)
}

func badTimeout(t *testing.T, s *subject) {
	for _, text := range []string{"x", "1", "-1"} {
		err := s.rest(t, asJSON).Get().Namespace(scene).Resource(claims).Param("timeout", text).Do(inTime(t)).Error()
		is(t, err, "BadRequest", apierrors.IsBadRequest)
	}
	for _, text := range []string{"5s", "0s", "1h30m"} {
		err := s.rest(t, asJSON).Get().Namespace(scene).Resource(claims).Param("timeout", text).Do(inTime(t)).Error()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func writes(t *testing.T, s *subject) {
	object := must(claimsOf(t, s, scene).Get(inTime(t), claimName(0), metav1.GetOptions{}))(t)
	patch := []byte(`{"metadata":{"labels":{"step":"9"}}}`)
	for what, write := range map[string]func(dynamic.ResourceInterface) error{
		"create": func(c dynamic.ResourceInterface) error {
			_, err := c.Create(inTime(t), object, metav1.CreateOptions{})
			return err
		},
		"update": func(c dynamic.ResourceInterface) error {
			_, err := c.Update(inTime(t), object, metav1.UpdateOptions{})
			return err
		},
		"patch": func(c dynamic.ResourceInterface) error {
			_, err := c.Patch(inTime(t), claimName(0), types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		"apply": func(c dynamic.ResourceInterface) error {
			bare := &unstructured.Unstructured{Object: map[string]any{"kind": object.GetKind(), "apiVersion": object.GetAPIVersion(),
				"metadata": map[string]any{"name": claimName(0)}}}
			_, err := c.Apply(inTime(t), claimName(0), bare, metav1.ApplyOptions{FieldManager: "conformance"})
			return err
		},
		"delete": func(c dynamic.ResourceInterface) error {
			return c.Delete(inTime(t), claimName(0), metav1.DeleteOptions{})
		},
		"deletecollection": func(c dynamic.ResourceInterface) error {
			return c.DeleteCollection(inTime(t), metav1.DeleteOptions{}, metav1.ListOptions{})
		},
	} {
		err := write(claimsOf(t, s, scene))
		is(t, err, "MethodNotSupported to "+what, apierrors.IsMethodNotSupported)
		equal(t, "message", statusOf(t, err).Message, "the server does not allow this method on the requested resource")
	}
	after := must(claimsOf(t, subjects[0], scene).Get(inTime(t), claimName(0), metav1.GetOptions{}))(t)
	equal(t, "resourceVersion", after.GetResourceVersion(), object.GetResourceVersion())
}
