{{- define "kapis.baseConfig" -}}
# The configuration of both programs; docs/config.md lists all fields and its default.
groupDomain: {{ .Values.groupDomain }}
listen:
  # Managed clusters let their control plane reach the ports 443 and 10250 of nodes and Pods; others need a firewall rule.
  port: 10250
{{- if eq .Values.overlay "kubesphere" }}
http:
  # Clear text, for port 80 of the Service.
  enabled: true
  port: 9090
{{- end }}
kubernetes:
  namespace: {{ .Release.Namespace | quote }}
service:
{{- if has .Values.overlay (list "default" "ha" "opensearch") }}
  name: kapis
{{- end }}
{{- if eq .Values.overlay "kubesphere" }}
  name: ks-apiserver
{{- end }}
  port: 443
oauth:
  # As users reach it, and as the JWT authenticator of kube-apiserver names it. Change it before the first login.
{{- if has .Values.overlay (list "default" "ha" "opensearch") }}
  issuer: https://kapis.{{ .Release.Namespace }}.svc/oauth
{{- end }}
{{- if eq .Values.overlay "kubesphere" }}
  issuer: https://ks-apiserver.{{ .Release.Namespace }}.svc/oauth
{{- end }}
  socket: /run/kapis/oauth.sock
{{- if eq .Values.overlay "kubesphere" }}
  clients:
    # The console of KubeSphere 3.4 has this secret by default. Choose another one for both in production.
    - name: kubesphere
      secret: kubesphere
      trusted: true
    # `kapis login`
    - name: kapis-cli
      public: true
      grantMethod: prompt
      grantTypes: [authorization_code, refresh_token, "urn:ietf:params:oauth:grant-type:device_code"]
      redirectURIs: [http://127.0.0.1/callback]
{{- end }}
# Longer than Services take to forget a Pod, and than the five seconds between two readiness probes.
shutdownDelaySeconds: 15
{{- if has .Values.overlay (list "default" "opensearch") }}
logs:
{{- end }}
{{- if eq .Values.overlay "default" }}
  store: embedded
  embedded:
    folder: /var/lib/kapis/logs
{{- end }}
{{- if eq .Values.overlay "opensearch" }}
  store: opensearch
  opensearch:
    url: https://opensearch-cluster-master.opensearch.svc:9200
{{- end }}
{{- end }}
