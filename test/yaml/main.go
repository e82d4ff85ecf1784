// Reads YAML documents, one a line as a JSON string, and writes how each YAML library of Go parses it, as one JSON line:
// sigs.k8s.io/yaml, which kubectl and client-go read with, and go-yaml v2 and v3.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	yamlv2 "go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

type reading struct {
	Sigs  json.RawMessage `json:"sigs.k8s.io/yaml"`
	V2    json.RawMessage `json:"go-yaml v2"`
	V3    json.RawMessage `json:"go-yaml v3"`
	Error string          `json:"error,omitempty"`
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var document string
		if err := json.Unmarshal(line, &document); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		result, err := read([]byte(document))
		if err != nil {
			result = reading{Error: err.Error()}
		}
		encoded, err := json.Marshal(result)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(append(encoded, '\n'))
	}
}

func read(document []byte) (reading, error) {
	sigs, err := yaml.YAMLToJSON(document)
	if err != nil {
		return reading{}, fmt.Errorf("sigs.k8s.io/yaml: %w", err)
	}
	v2, err := toJSON("go-yaml v2", document, yamlv2.Unmarshal)
	if err != nil {
		return reading{}, err
	}
	v3, err := toJSON("go-yaml v3", document, yamlv3.Unmarshal)
	if err != nil {
		return reading{}, err
	}
	return reading{Sigs: sigs, V2: v2, V3: v3}, nil
}

func toJSON(name string, document []byte, unmarshal func([]byte, any) error) ([]byte, error) {
	var value any
	if err := unmarshal(document, &value); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	plain, err := withTextKeys(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return json.Marshal(plain)
}

// withTextKeys turns maps of any key into maps of text, and rejects other keys.
func withTextKeys(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case []any:
		for i := range value {
			if value[i], err = withTextKeys(value[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range value {
			if value[key], err = withTextKeys(value[key]); err != nil {
				return nil, err
			}
		}
	case map[any]any:
		plain := make(map[string]any, len(value))
		for key, inner := range value {
			text, isText := key.(string)
			if !isText {
				return nil, fmt.Errorf("the key %v was read as %T", key, key)
			}
			if plain[text], err = withTextKeys(inner); err != nil {
				return nil, err
			}
		}
		return plain, nil
	}
	return value, nil
}
