{{/* Objects of the Prometheus operator. */}}
{{- define "service.monitor" -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
    {{- if .Values.monitoring.labels }}
    {{- toYaml .Values.monitoring.labels | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "service.selector" . | nindent 6 }}
  endpoints:
    - port: http
      path: /metrics
      interval: {{ .Values.monitoring.interval }}
      {{- if has "METRICS_TOKEN" .Values.secret.keys }}
      authorization:
        type: Bearer
        credentials:
          name: {{ .Values.secret.name }}
          key: METRICS_TOKEN
      {{- end }}
{{- end }}

{{/* The rules of infra/observability/alerts, for the pods of this release only. Their selectors name the jobs hub and fleet. */}}
{{- define "service.alerts" -}}
{{- $name := include "service.name" . -}}
{{- $selector := printf "job=%q, namespace=%q" $name .Release.Namespace -}}
{{- $own := printf "job=%q" .Chart.Name -}}
{{- $file := printf "alerts/%s.yaml" .Chart.Name -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ $name }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
    {{- if .Values.monitoring.labels }}
    {{- toYaml .Values.monitoring.labels | nindent 4 }}
    {{- end }}
spec:
  groups:
    {{- .Files.Get "alerts/service.yaml" | replace "groups:" "" | replace "job=~\"hub|fleet\"" $selector | replace "docs/operate.md" .Values.monitoring.runbookUrl | nindent 2 }}
    {{- .Files.Get $file | replace "groups:" "" | replace $own $selector | replace "docs/operate.md" .Values.monitoring.runbookUrl | nindent 2 }}
{{- end }}
