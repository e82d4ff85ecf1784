{{- define "kapis.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "kapis.replicas" -}}
{{- .Values.replicas | default (ternary 1 2 (has .Values.overlay (list "default" "kubesphere"))) -}}
{{- end }}

{{- define "kapis.config" -}}
{{- mergeOverwrite (include "kapis.baseConfig" . | fromYaml) .Values.config | toYaml -}}
{{- end }}

{{- /* The hash changes the Pod template, so that a changed configuration rolls out automatically. */}}
{{- define "kapis.configHash" -}}
{{- include "kapis.config" . | sha256sum | trunc 10 -}}
{{- end }}
