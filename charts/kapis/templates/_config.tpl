{{- define "kapis.baseConfig" -}}
# The configuration of both programs; docs/config.md lists all fields and their defaults.
groupDomain: {{ .Values.groupDomain }}
listen:
  # In managed clusters the control plane only reaches the ports 443 and 10250 of nodes and Pods; other ports need a
  # firewall rule.
  port: 10250
{{- if eq .Values.overlay "kubesphere" }}
http:
  # HTTP without TLS, for port 80 of the Service.
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
  # The URL at which users reach the OAuth server, and the issuer in the JWT authenticator of kube-apiserver. Change
  # it before the first login.
{{- if has .Values.overlay (list "default" "ha" "opensearch") }}
  issuer: https://kapis.{{ .Release.Namespace }}.svc/oauth
{{- end }}
{{- if eq .Values.overlay "kubesphere" }}
  issuer: https://ks-apiserver.{{ .Release.Namespace }}.svc/oauth
{{- end }}
  socket: /run/kapis/oauth.sock
{{- if eq .Values.overlay "kubesphere" }}
  clients:
    # The default secret of the console of KubeSphere 3.4. In production, set another secret here and in the console.
    - name: kubesphere
      secret: kubesphere
      trusted: true
    # The client of `kapis login`.
    - name: kapis-cli
      public: true
      grantMethod: prompt
      grantTypes: [authorization_code, refresh_token, "urn:ietf:params:oauth:grant-type:device_code"]
      redirectURIs: [http://127.0.0.1/callback]
{{- end }}
# Longer than Services take to stop sending requests to a terminating Pod, and than the interval of readiness probes
# (5 s).
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
