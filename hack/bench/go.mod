module kapis.io/hack/bench

go 1.26.0

// The load client of make bench, in Go so that it leaves most of a small machine to the server.

tool github.com/rakyll/hey

require (
	github.com/rakyll/hey v0.1.5 // indirect
	golang.org/x/net v0.48.0 // indirect
	golang.org/x/text v0.33.0 // indirect
)
