{{/* What the pods of the service and of the migration have in common. */}}
{{- define "service.podSettings" -}}
automountServiceAccountToken: false
{{- if .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml .Values.imagePullSecrets | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- if .Values.nodeSelector }}
nodeSelector:
  {{- toYaml .Values.nodeSelector | nindent 2 }}
{{- end }}
{{- if .Values.tolerations }}
tolerations:
  {{- toYaml .Values.tolerations | nindent 2 }}
{{- end }}
{{- end }}

{{- define "service.containerSettings" -}}
image: {{ include "service.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{- end }}

{{/* Members of lists. They are empty if the values are. */}}
{{- define "service.extraEnv" -}}
{{- if .Values.extraEnv }}
{{- toYaml .Values.extraEnv }}
{{- end }}
{{- end }}

{{- define "service.extraVolumeMounts" -}}
{{- if .Values.extraVolumeMounts }}
{{- toYaml .Values.extraVolumeMounts }}
{{- end }}
{{- end }}

{{- define "service.extraVolumes" -}}
{{- if .Values.extraVolumes }}
{{- toYaml .Values.extraVolumes }}
{{- end }}
{{- end }}

{{- define "service.envFrom" -}}
{{- if .Values.envFrom }}
envFrom:
  {{- toYaml .Values.envFrom | nindent 2 }}
{{- end }}
{{- end }}
