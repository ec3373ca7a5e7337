{{/* Migrates the database before the objects of a release are created or changed. The service account does not exist yet then. */}}
{{- define "service.migration" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "service.name" . }}-migration
  labels:
    {{- include "service.labels" . | nindent 4 }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 3
  activeDeadlineSeconds: {{ .Values.migration.activeDeadlineSeconds }}
  template:
    metadata:
      labels:
        {{- include "service.labels" . | nindent 8 }}
        app.kubernetes.io/component: migration
    spec:
      {{- include "service.podSettings" . | nindent 6 }}
      restartPolicy: Never
      containers:
        - name: migration
          {{- include "service.containerSettings" . | nindent 10 }}
          args: [migrate]
          env:
            {{- if .Values.settings.AUDIT_RETENTION_DAYS }}
            - name: AUDIT_RETENTION_DAYS
              value: {{ .Values.settings.AUDIT_RETENTION_DAYS | quote }}
            {{- end }}
            {{- if .Values.settings.NODE_EXTRA_CA_CERTS }}
            - name: NODE_EXTRA_CA_CERTS
              value: {{ .Values.settings.NODE_EXTRA_CA_CERTS | quote }}
            {{- end }}
            - name: DATABASE_URL_FILE
              value: /run/secrets/svc/DATABASE_URL
            - name: MIGRATION_DATABASE_URL_FILE
              value: /run/secrets/svc/MIGRATION_DATABASE_URL
            {{- include "service.extraEnv" . | nindent 12 }}
          {{- include "service.envFrom" . | nindent 10 }}
          volumeMounts:
            - name: secrets
              mountPath: /run/secrets/svc
              readOnly: true
            {{- include "service.extraVolumeMounts" . | nindent 12 }}
      volumes:
        {{- include "service.extraVolumes" . | nindent 8 }}
        - name: secrets
          projected:
            defaultMode: 288 # 0440
            sources:
              - secret:
                  name: {{ .Values.secret.name }}
                  items:
                    - key: DATABASE_URL
                      path: DATABASE_URL
              - secret:
                  name: {{ .Values.migration.secretName }}
                  items:
                    - key: MIGRATION_DATABASE_URL
                      path: MIGRATION_DATABASE_URL
{{- end }}
