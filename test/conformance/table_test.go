package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

const (
	tableV1      = "application/json;as=Table;v=v1;g=meta.k8s.io"
	tableV1beta1 = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
	// The Accept header of kubectl.
	tableOrJSON = tableV1 + "," + tableV1beta1 + "," + asJSON
	partial     = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	partialList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

func TestTable(t *testing.T) {
	holds(t, []check{
		{"a list has a row for each item and a cell for each column", tableOfList},
		{"one object is a table of one row", tableOfObject},
		{"a row holds as much of its object as was asked for", tableRowObjects},
		{"an unknown policy is 400", tableBrokenPolicy},
		{"tables come in chunks", tableChunks},
		{"columns are sent in the first event of a watch and in no other", tableWatch},
		{"columns are sent in the first event that is not of the first state", tableWatchFromNow},
		{"an error in a watch of tables is a Status", tableWatchExpires},
		{"a form that is not known is passed over", unknownForm},
		{"metadata of the wrong number is 406", partialOfWrongNumber},
		{"an object and a list have metadata alone", partials},
	}, everywhere)
}

// TestColumns: aggregated kinds have the printer columns of kube-apiserver.
func TestColumns(t *testing.T) {
	holds(t, []check{{"begin with those of kube-apiserver's own", func(t *testing.T, s *subject) {
		for _, plural := range []string{"nodes", "namespaces", claims} {
			own := tableAt(t, s, request(t, s, tableOrJSON).Resource(plural), nil)
			native := tableAt(t, s, request(t, subjects[0], tableOrJSON).Resource(plural), nil)
			want := strings.Join(columnsOf(native), " ")
			if got := strings.Join(columnsOf(own), " "); !strings.HasPrefix(got, want) {
				t.Fatalf("%s have columns %s, which do not begin with %s", plural, got, want)
			}
		}
	}}}, ours)
}

// request asks for a format that is not a typed object.
func request(t *testing.T, s *subject, accept string) *rest.Request {
	t.Helper()
	return s.rest(t, asJSON).Get().SetHeader("Accept", accept)
}

func tableAt(t *testing.T, s *subject, r *rest.Request, options *metav1.TableOptions) *metav1.Table {
	t.Helper()
	if options != nil {
		r = r.Param("includeObject", string(options.IncludeObject))
	}
	table := &metav1.Table{}
	decode(t, must(r.Do(inTime(t)).Raw())(t), table)
	equal(t, "kind", table.Kind, "Table")
	return table
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func columnsOf(table *metav1.Table) (names []string) {
	for _, column := range table.ColumnDefinitions {
		names = append(names, fmt.Sprintf("%s(%s/%s,%d)", column.Name, column.Type, column.Format, column.Priority))
	}
	return names
}

func claimsTable(t *testing.T, s *subject, accept string) *rest.Request {
	t.Helper()
	return request(t, s, accept).Namespace(scene).Resource(claims)
}

func tableOfList(t *testing.T, s *subject) {
	for accept, version := range map[string]string{tableV1: "v1", tableV1beta1: "v1beta1", tableOrJSON: "v1"} {
		table := tableAt(t, s, claimsTable(t, s, accept), nil)
		equal(t, "apiVersion", table.APIVersion, "meta.k8s.io/"+version)
		equal(t, "rows", len(table.Rows), claimsInScene)
		equal(t, "first column", table.ColumnDefinitions[0].Name, "Name")
		if table.ResourceVersion == "" {
			t.Fatal("no resourceVersion")
		}
		for i, row := range table.Rows {
			equal(t, "cells", len(row.Cells), len(table.ColumnDefinitions))
			equal(t, "name", fmt.Sprint(row.Cells[0]), claimName(i))
		}
	}
}

func tableOfObject(t *testing.T, s *subject) {
	table := tableAt(t, s, claimsTable(t, s, tableV1beta1).Name(claimName(7)), nil)
	equal(t, "rows", len(table.Rows), 1)
	equal(t, "name", fmt.Sprint(table.Rows[0].Cells[0]), claimName(7))
}

// kindIn is the kind of a row's object, or "" without an object.
func kindIn(t *testing.T, row metav1.TableRow) string {
	t.Helper()
	if len(row.Object.Raw) == 0 || string(row.Object.Raw) == "null" {
		return ""
	}
	object := metav1.PartialObjectMetadata{}
	decode(t, row.Object.Raw, &object)
	return object.APIVersion + " " + object.Kind
}

// kindsIn is the object in a row for each policy.
func kindsIn(s *subject) map[metav1.IncludeObjectPolicy]string {
	return map[metav1.IncludeObjectPolicy]string{
		"":                     "meta.k8s.io/v1 PartialObjectMetadata",
		metav1.IncludeMetadata: "meta.k8s.io/v1 PartialObjectMetadata",
		metav1.IncludeObject:   s.gv.String() + " PersistentVolumeClaim",
		metav1.IncludeNone:     "",
	}
}

func tableRowObjects(t *testing.T, s *subject) {
	for policy, kind := range kindsIn(s) {
		for _, r := range []*rest.Request{claimsTable(t, s, tableV1), claimsTable(t, s, tableV1).Name(claimName(0))} {
			table := tableAt(t, s, r, &metav1.TableOptions{IncludeObject: policy})
			equal(t, "object with includeObject="+string(policy), kindIn(t, table.Rows[0]), kind)
		}
	}
}

func tableBrokenPolicy(t *testing.T, s *subject) {
	for _, r := range []*rest.Request{claimsTable(t, s, tableV1), claimsTable(t, s, tableV1).Param("watch", "true")} {
		is(t, r.Param("includeObject", "All").Do(inTime(t)).Error(), "BadRequest", apierrors.IsBadRequest)
	}
}

func tableChunks(t *testing.T, s *subject) {
	first := tableAt(t, s, claimsTable(t, s, tableV1).Param("limit", "2"), nil)
	equal(t, "rows", len(first.Rows), 2)
	equal(t, "remaining", *first.RemainingItemCount, claimsInScene-2)
	rest := tableAt(t, s, claimsTable(t, s, tableV1).Param("continue", first.Continue), nil)
	equal(t, "rows", len(rest.Rows), claimsInScene-2)
	equal(t, "first of the rest", fmt.Sprint(rest.Rows[0].Cells[0]), claimName(2))
	equal(t, "resourceVersion", rest.ResourceVersion, first.ResourceVersion)
}

// tableEvent is an event with a Table as its object.
type tableEvent struct {
	Type   watch.EventType
	Object metav1.Table
}

// tableEvents reads a watch of Tables, which the decoder of client-go does not support.
func tableEvents(t *testing.T, r *rest.Request) func() tableEvent {
	t.Helper()
	stream := must(r.Param("watch", "true").Stream(inTime(t)))(t)
	t.Cleanup(func() { stream.Close() })
	lines := json.NewDecoder(stream)
	return func() (event tableEvent) {
		t.Helper()
		if err := lines.Decode(&event); err != nil {
			t.Fatal(err)
		}
		return event
	}
}

func tableWatch(t *testing.T, s *subject) {
	for policy, kind := range kindsIn(s) {
		r := claimsTable(t, s, tableOrJSON).Param("includeObject", string(policy)).Param("allowWatchBookmarks", "true").
			Param("sendInitialEvents", "true").Param("resourceVersionMatch", "NotOlderThan")
		next := tableEvents(t, r)
		columns := 0
		for i := range claimsInScene {
			event := next()
			equal(t, "type", event.Type, watch.Added)
			equal(t, "rows", len(event.Object.Rows), 1)
			if i == 0 {
				columns = len(event.Object.ColumnDefinitions)
			} else {
				equal(t, "columns sent again", len(event.Object.ColumnDefinitions), 0)
			}
			equal(t, "cells", len(event.Object.Rows[0].Cells), columns)
			equal(t, "object with includeObject="+string(policy), kindIn(t, event.Object.Rows[0]), kind)
		}
		holdTableBookmark(t, next())
	}
}

// holdTableBookmark: in a Table, one row marks the end of the initial events (KEP-3157).
func holdTableBookmark(t *testing.T, event tableEvent) {
	t.Helper()
	equal(t, "type", event.Type, watch.Bookmark)
	equal(t, "rows of the bookmark", len(event.Object.Rows), 1)
	object := metav1.PartialObjectMetadata{}
	decode(t, event.Object.Rows[0].Object.Raw, &object)
	equal(t, "annotation", object.Annotations[metav1.InitialEventsAnnotationKey], "true")
	if object.ResourceVersion == "" || object.ResourceVersion != event.Object.ResourceVersion {
		t.Fatalf("versions of the bookmark: %q in its row, %q of the table", object.ResourceVersion, event.Object.ResourceVersion)
	}
}

func tableWatchFromNow(t *testing.T, s *subject) {
	namespace := ownNamespace(t)
	first := addClaim(t, namespace, "a")
	// Watches that share their selection: a later one gets the columns too.
	for round := range 2 {
		r := request(t, s, tableV1).Namespace(namespace).Resource(claims).Param("resourceVersion", first.ResourceVersion)
		next := tableEvents(t, r)
		for i := range 3 {
			changed := step(t, namespace, "a", round*10+i)
			event := next()
			for event.Object.ResourceVersion != changed.ResourceVersion {
				t.Fatalf("version %s, want %s", event.Object.ResourceVersion, changed.ResourceVersion)
			}
			if hasColumns := len(event.Object.ColumnDefinitions) > 0; hasColumns != (i == 0) {
				t.Fatalf("event %d of watch %d has %d columns", i, round, len(event.Object.ColumnDefinitions))
			}
			first = changed
		}
	}
}

func tableWatchExpires(t *testing.T, s *subject) {
	r := request(t, s, tableV1).Namespace(scene).Resource(s.forgetful()).Param("resourceVersion", "1").Param("watch", "true")
	stream := must(r.Timeout(5 * time.Second).Stream(inTime(t)))(t)
	defer stream.Close()
	event := struct {
		Type   watch.EventType
		Object metav1.Status
	}{}
	if err := json.NewDecoder(stream).Decode(&event); err != nil {
		t.Fatal(err)
	}
	equal(t, "type", event.Type, watch.Error)
	equal(t, "kind", event.Object.Kind, "Status")
	equal(t, "reason", event.Object.Reason, metav1.StatusReasonExpired)
}

func unknownForm(t *testing.T, s *subject) {
	for _, accept := range []string{
		"application/json;as=Unknown;v=v1;g=meta.k8s.io,application/json",
		"application/json;as=Table;v=v9;g=meta.k8s.io,application/json",
		"application/unknown, application/json",
	} {
		object := metav1.PartialObjectMetadata{}
		decode(t, must(claimsTable(t, s, accept).Name(claimName(0)).Do(inTime(t)).Raw())(t), &object)
		equal(t, "kind", object.Kind, "PersistentVolumeClaim")
	}
	for _, accept := range []string{"application/json;as=Unknown;v=v1;g=meta.k8s.io", "text/csv"} {
		is(t, claimsTable(t, s, accept).Do(inTime(t)).Error(), "NotAcceptable", apierrors.IsNotAcceptable)
	}
}

func partialOfWrongNumber(t *testing.T, s *subject) {
	is(t, claimsTable(t, s, partial).Do(inTime(t)).Error(), "NotAcceptable", apierrors.IsNotAcceptable)
	is(t, claimsTable(t, s, partialList).Name(claimName(0)).Do(inTime(t)).Error(), "NotAcceptable", apierrors.IsNotAcceptable)
}

func partials(t *testing.T, s *subject) {
	client := s.metadata(t).Resource(s.resource(claims)).Namespace(scene)
	all := must(client.List(inTime(t), metav1.ListOptions{Limit: chunk}))(t)
	equal(t, "items", len(all.Items), chunk)
	equal(t, "remaining", *all.RemainingItemCount, claimsInScene-chunk)
	one := must(client.Get(inTime(t), claimName(0), metav1.GetOptions{}))(t)
	kind := metav1.TypeMeta{}
	decode(t, must(claimsTable(t, s, partial).Name(claimName(0)).Do(inTime(t)).Raw())(t), &kind)
	equal(t, "kind", kind.APIVersion+" "+kind.Kind, "meta.k8s.io/v1 PartialObjectMetadata")
	for _, object := range []metav1.PartialObjectMetadata{all.Items[0], *one} {
		equal(t, "name", object.Name, claimName(0))
		equal(t, "label", object.Labels["step"], "0")
	}
}
