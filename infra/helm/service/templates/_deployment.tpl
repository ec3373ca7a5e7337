{{- define "service.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicas }}
  {{- end }}
  strategy:
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  selector:
    matchLabels:
      {{- include "service.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "service.labels" . | nindent 8 }}
        app.kubernetes.io/component: service
    spec:
      {{- include "service.podSettings" . | nindent 6 }}
      serviceAccountName: {{ include "service.name" . }}
      terminationGracePeriodSeconds: 20 # a service needs up to 14 s to finish its requests and its log
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "service.selector" . | nindent 14 }}
      containers:
        - name: {{ .Chart.Name }}
          {{- include "service.containerSettings" . | nindent 10 }}
          env:
            - name: PORT
              value: {{ .Values.port | quote }}
            - name: MIGRATE_ON_START
              value: {{ not .Values.migration.enabled | quote }}
            {{- range $name, $value := .Values.settings }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
            {{- range .Values.secret.keys }}
            - name: {{ . }}_FILE
              value: /run/secrets/svc/{{ . }}
            {{- end }}
            {{- include "service.extraEnv" . | nindent 12 }}
          {{- include "service.envFrom" . | nindent 10 }}
          ports:
            - name: http
              containerPort: {{ .Values.port }}
          startupProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
            periodSeconds: 5
            timeoutSeconds: 5
          volumeMounts:
            - name: secrets
              mountPath: /run/secrets/svc
              readOnly: true
            {{- include "service.extraVolumeMounts" . | nindent 12 }}
      volumes:
        {{- include "service.extraVolumes" . | nindent 8 }}
        - name: secrets
          secret:
            secretName: {{ .Values.secret.name }}
            defaultMode: 288 # 0440
            items:
              {{- range .Values.secret.keys }}
              - key: {{ . }}
                path: {{ . }}
              {{- end }}
{{- end }}

{{- define "service.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
    app.kubernetes.io/component: service
spec:
  selector:
    {{- include "service.selector" . | nindent 4 }}
  ports:
    - name: http
      port: 80
      targetPort: http
{{- end }}

{{- define "service.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
  {{- if .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml .Values.serviceAccount.annotations | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}
