# Builds the image of one service: docker build -f infra/docker/service.Dockerfile --build-arg SERVICE=hub -t svc-hub .
# SERVICE is hub, fleet or identity-provider (for development only).
ARG NODE_IMAGE=node:24-bookworm-slim
ARG SERVICE

FROM ${NODE_IMAGE} AS build
ENV CI=1 CHECKPOINT_DISABLE=1 DO_NOT_TRACK=1
WORKDIR /repository
# The downloads depend only on these three files, so all services share this layer.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npm install --global "$(node -p "require('./package.json').packageManager.split('+')[0]")" && pnpm fetch
COPY . .
RUN pnpm install --frozen-lockfile --offline
ARG SERVICE
# tsc -b also builds the packages that the service references.
RUN pnpm --filter "@svc/$SERVICE" run --if-present generate \
 && pnpm --filter "@svc/$SERVICE" run build \
 && pnpm --filter "@svc/$SERVICE" deploy --prod --legacy --offline "/app/apps/$SERVICE"
# The folders that the service reads have the same paths as in the repository.
# Prisma contains query compilers for six databases; only that for PostgreSQL is needed.
RUN mkdir -p /app/prisma /app/infra \
 && if [ -d "prisma/$SERVICE" ]; then cp -r "prisma/$SERVICE" /app/prisma/; fi \
 && if [ "$SERVICE" = hub ]; then cp -r infra/catalog /app/infra/; fi \
 && find /app -path '*/@prisma/client/runtime/*' \
      -regex '.*\.\(cockroachdb\|mysql\|sqlite\|sqlserver\)\..*' -delete

FROM ${NODE_IMAGE} AS hub
ENV PORT=4100
EXPOSE 4100

FROM ${NODE_IMAGE} AS fleet
ENV PORT=4200
# The limit of the heap also limits how much unused memory Node keeps before it collects it. docs/scale.md states what a fleet needs.
ENV NODE_OPTIONS=--max-old-space-size=1024
EXPOSE 4200

FROM ${NODE_IMAGE} AS identity-provider
ENV PORT=4300
EXPOSE 4300

FROM ${SERVICE}
ARG SERVICE
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="$SERVICE" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=build /app /app
WORKDIR /app/apps/$SERVICE
# A numeric id, so that Kubernetes can verify that it is not root. Nothing below /app is writable, and the service writes no files.
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
# Arguments are a command of the service, such as migrate; the default is serve.
ENTRYPOINT ["node", "dist/main.js"]
