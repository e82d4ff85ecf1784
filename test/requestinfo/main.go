// Reads requests, one JSON object {"method", "target"} a line, as kube-apiserver does: net/http's parsing of a target, then
// k8s.io/apiserver's RequestInfo. Writes a JSON object for each.
package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"
)

type asked struct{ Method, Target string }

type answer struct {
	Error string                `json:"error,omitempty"`
	Info  *request.RequestInfo `json:"info,omitempty"`
}

func main() {
	// It logs each invalid query.
	klog.SetLogger(klog.Logger{})
	factory := request.RequestInfoFactory{
		APIPrefixes:          sets.NewString("api", "apis", "kapi", "kapis"),
		GrouplessAPIPrefixes: sets.NewString("api"),
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for lines.Scan() {
		if err := encoder.Encode(read(factory, lines.Bytes())); err != nil {
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}

func read(factory request.RequestInfoFactory, line []byte) answer {
	var given asked
	if err := json.Unmarshal(line, &given); err != nil {
		panic(err)
	}
	target, err := url.ParseRequestURI(given.Target)
	if err != nil {
		return answer{Error: err.Error()}
	}
	info, err := factory.NewRequestInfo(&http.Request{Method: given.Method, URL: target})
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Info: info}
}
