{{/* All objects of a service. */}}
{{- define "service.objects" -}}
{{ include "service.serviceAccount" . }}
---
{{ include "service.deployment" . }}
---
{{ include "service.service" . }}
{{- if .Values.migration.enabled }}
---
{{ include "service.migration" . }}
{{- end }}
{{- if .Values.disruptionBudget.enabled }}
---
{{ include "service.disruptionBudget" . }}
{{- end }}
{{- if .Values.autoscaling.enabled }}
---
{{ include "service.autoscaler" . }}
{{- end }}
{{- if .Values.networkPolicy.enabled }}
---
{{ include "service.networkPolicy" . }}
{{- end }}
{{- if .Values.ingress.enabled }}
---
{{ include "service.ingress" . }}
{{- end }}
{{- if .Values.monitoring.enabled }}
---
{{ include "service.monitor" . }}
---
{{ include "service.alerts" . }}
{{- end }}
{{- end }}

{{- define "service.name" -}}
{{ .Release.Name }}-{{ .Chart.Name }}
{{- end }}

{{/* The labels that select the pods of the service. They never change. */}}
{{- define "service.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: service
{{- end }}

{{- define "service.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "service.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}
