// Informer watches the nodes of the aggregated API the way controllers do: with a client-go dynamic informer.
// It prints one JSON object a line, and exits with 0 when the sequence label of a node has reached its last value.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// sequenceLabel is incremented by the test while the informer runs.
const sequenceLabel = "test/seq"

type options struct {
	group     string
	version   string
	node      string
	updates   int
	watchList bool
	timeout   time.Duration
}

// line is one line of output.
type line struct {
	Type            string `json:"type"`
	Name            string `json:"name,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Sequence        int    `json:"sequence,omitempty"`
	Count           int    `json:"count,omitempty"`
	Milliseconds    int64  `json:"milliseconds,omitempty"`
	WatchList       *bool  `json:"watchList,omitempty"`
}

func main() {
	var o options
	flag.StringVar(&o.group, "group", "resources.kapis.io", "API group of the nodes")
	flag.StringVar(&o.version, "version", "v1alpha3", "API version of the nodes")
	flag.StringVar(&o.node, "node", "", "node whose label is counted up")
	flag.IntVar(&o.updates, "updates", 20, "last number to wait for")
	flag.BoolVar(&o.watchList, "watchlist", true, "whether the informer streams the first state (WatchListClient)")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Second, "time for all of it")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o options) error {
	// client-go reads its feature gates from the environment, only once, when the first informer needs
	// them.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", strconv.FormatBool(o.watchList)); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()

	nodes := schema.GroupVersionResource{Group: o.group, Version: o.version, Resource: "nodes"}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(nodes).Informer()
	events := make(chan line, 10_000)
	if _, err := informer.AddEventHandler(handler(events)); err != nil {
		return err
	}
	started := time.Now()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("not synced in time")
	}
	emit(line{
		Type:         "synced",
		Count:        len(informer.GetStore().ListKeys()),
		Milliseconds: time.Since(started).Milliseconds(),
		WatchList:    &o.watchList,
	})
	return follow(ctx, events, o)
}

// follow prints the events and checks that the sequence never decreases: informers may skip a
// state.
func follow(ctx context.Context, events <-chan line, o options) error {
	last := 0
	lastVersion := map[string]uint64{}
	for last < o.updates {
		select {
		case <-ctx.Done():
			return fmt.Errorf("saw the sequence up to %d, not to %d", last, o.updates)
		case event := <-events:
			emit(event)
			version, err := strconv.ParseUint(event.ResourceVersion, 10, 64)
			if err != nil {
				return fmt.Errorf("resource version of %s: %w", event.Name, err)
			}
			if version < lastVersion[event.Name] {
				return fmt.Errorf("%s went back from version %d to %d", event.Name, lastVersion[event.Name], version)
			}
			lastVersion[event.Name] = version
			if event.Name != o.node || event.Sequence == 0 {
				continue
			}
			if event.Sequence != last && event.Sequence != last+1 {
				return fmt.Errorf("the sequence went from %d to %d", last, event.Sequence)
			}
			last = event.Sequence
		}
	}
	return nil
}

func handler(events chan<- line) cache.ResourceEventHandler {
	send := func(kind string, object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		meta, ok := object.(metav1.Object)
		if !ok {
			return
		}
		sequence, _ := strconv.Atoi(meta.GetLabels()[sequenceLabel])
		events <- line{Type: kind, Name: meta.GetName(), ResourceVersion: meta.GetResourceVersion(), Sequence: sequence}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { send("added", object) },
		UpdateFunc: func(_, object any) { send("updated", object) },
		DeleteFunc: func(object any) { send("deleted", object) },
	}
}

func emit(l line) {
	if err := json.NewEncoder(os.Stdout).Encode(l); err != nil {
		os.Exit(1)
	}
}
