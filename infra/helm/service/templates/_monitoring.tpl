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

{{- define "service.alerts" -}}
{{- $name := include "service.name" . -}}
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
    - name: {{ $name }}
      rules:
        - alert: ServiceDown
          expr: absent(up{service="{{ $name }}", namespace="{{ .Release.Namespace }}"} == 1)
          for: 2m
          labels:
            severity: critical
          annotations:
            summary: No replica of {{ $name }} can be scraped
        - alert: ServerErrors
          expr: >-
            sum(rate(http_requests_total{service="{{ $name }}", namespace="{{ .Release.Namespace }}", status=~"5.."}[5m]))
            > 0.01 * sum(rate(http_requests_total{service="{{ $name }}", namespace="{{ .Release.Namespace }}"}[5m]))
          for: 5m
          labels:
            severity: warning
          annotations:
            summary: More than 1 percent of the responses of {{ $name }} are server errors
        - alert: LogLinesDropped
          expr: sum(increase(log_lines_dropped_total{service="{{ $name }}", namespace="{{ .Release.Namespace }}"}[10m])) > 0
          labels:
            severity: warning
          annotations:
            summary: Log lines of {{ $name }} were dropped because stdout was not read
        {{- if eq .Chart.Name "fleet" }}
        - alert: CatalogSyncFails
          expr: >-
            time() - max(catalog_sync_last_failure_timestamp_seconds{service="{{ $name }}", namespace="{{ .Release.Namespace }}"})
            < 600
          for: 15m
          labels:
            severity: warning
          annotations:
            summary: The fleet {{ $name }} cannot sync its catalog with the hub
        {{- end }}
{{- end }}
