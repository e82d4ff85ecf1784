// Package conformance sends the requests of Kubernetes' conformance tests to the aggregated API,
// with client-go. They are also sent to kube-apiserver's own API, to find wrong checks.
package conformance

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// check is one property of a subject.
type check struct {
	name string
	run  func(*testing.T, *subject)
}

// patience is the timeout of all waits; long enough for a busy machine.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	code, err := setUp(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func setUp(m *testing.M) (int, error) {
	// For native kinds, which are also read.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	kube, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return 1, err
	}
	if err := makeSubjects(kube); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	remove, err := makeScene(ctx, kube)
	defer remove()
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// holds runs the checks against every selected subject; checks are independent.
func holds(t *testing.T, checks []check, wanted func(*subject) bool) {
	t.Parallel()
	for _, s := range subjects {
		if !wanted(s) {
			continue
		}
		for _, c := range checks {
			t.Run(s.name+": "+c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, s)
			})
		}
	}
}

func everywhere(*subject) bool { return true }

func ours(s *subject) bool { return !s.isNative }

func aggregated(s *subject) bool { return !s.isNative && !s.isFront }

func inTime(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
