{{- /* Made by `make update` from manifests/. */}}
{{- define "kapis.baseConfig" -}}
# The configuration of both programs; docs/config.md has every member and its default.
groupDomain: {{ .Values.groupDomain }}
listen:
  # Managed clusters let their control plane reach the ports 443 and 10250 of nodes and Pods; others need a firewall rule.
  port: 10250
kubernetes:
  namespace: {{ .Release.Namespace | quote }}
service:
  name: kapis
  port: 443
oauth:
  # As users reach it, and as the JWT authenticator of kube-apiserver names it. Change it before the first login.
  issuer: https://kapis.{{ .Release.Namespace }}.svc/oauth
  socket: /run/kapis/oauth.sock
# Longer than Services take to forget a Pod, and than the five seconds between two readiness probes.
shutdownDelaySeconds: 15
{{- end }}
