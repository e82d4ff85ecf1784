// A real image registry for tests: go-containerregistry's own, over TLS, with logins by Basic or by token.
//
// Usage: registry CERT KEY USER PASSWORD basic|token
// Prints its port once it listens, and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
)

const token = "a-token-of-the-token-server"

func main() {
	certFile, keyFile, user, password, kind := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))

	isLogin := func(r *http.Request) bool {
		u, p, ok := r.BasicAuth()
		return ok && u == user && p == password
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			if !isLogin(r) {
				http.Error(w, "{}", http.StatusUnauthorized)
				return
			}
			fmt.Fprintf(w, `{"token":%q}`, token)
			return
		}
		if kind == "basic" && !isLogin(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		if kind == "token" && r.Header.Get("Authorization") != "Bearer "+token {
			realm := "https://" + r.Host + "/token"
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="test",scope="repository:x:pull"`, realm))
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	})

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(strings.TrimPrefix(listener.Addr().String(), "127.0.0.1:"))
	quiet := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	log.Fatal(quiet.ServeTLS(listener, certFile, keyFile))
}
