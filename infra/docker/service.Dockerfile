# Builds the image of one service: docker build -f infra/docker/service.Dockerfile --build-arg SERVICE=hub -t svc-hub .
# SERVICE is hub, fleet or identity-provider (for development only). infra/docker/README.md describes the other arguments.
ARG NODE_IMAGE=docker.io/library/node:26-trixie
ARG BASE_IMAGE=gcr.io/distroless/cc-debian13:nonroot
ARG ASSEMBLED=build
ARG SERVICE

FROM ${NODE_IMAGE} AS build
ENV CI=1 CHECKPOINT_DISABLE=1 DO_NOT_TRACK=1
# Node 25 and later need libatomic, which the base image does not have. Without its symbols, the program is 33 MB smaller.
RUN mkdir -p /runtime/bin /runtime/lib \
 && strip -o /runtime/bin/node "$(command -v node)" \
 && find /usr/lib -name libatomic.so.1 -exec cp -L {} /runtime/lib/ \;
WORKDIR /repository
# npm verifies pnpm with the hashes in its lockfile.
COPY infra/docker/pnpm /pnpm
RUN npm ci --prefix /pnpm --no-audit --no-fund
ENV PATH=/pnpm/node_modules/.bin:$PATH
# The downloads depend only on these three files, so all services share this layer.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN pnpm fetch
COPY . .
RUN pnpm install --frozen-lockfile --offline
ARG SERVICE
# The identity provider has no console.
RUN if [ "$SERVICE" != identity-provider ]; then \
      pnpm --filter @svc/contract run build && pnpm --filter @svc/console run build; \
    fi
# The compiled code is for the user of the image below.
RUN pnpm --filter "@svc/$SERVICE" run --if-present generate \
 && if [ "$SERVICE" = identity-provider ]; then node infra/docker/assemble.mjs "$SERVICE" /app; \
    else node infra/docker/assemble.mjs "$SERVICE" /app --uid 65532; fi

FROM ${ASSEMBLED} AS assembled

FROM ${BASE_IMAGE} AS base
COPY --from=assembled /runtime/lib/ /usr/lib/
COPY --from=assembled /runtime/bin/node /usr/local/bin/node

FROM base AS hub
ENV PORT=4100
EXPOSE 4100

FROM base AS fleet
ENV PORT=4200
# The limit of the heap also limits how much unused memory Node keeps before it collects it. docs/scale.md states what a fleet needs.
ENV NODE_OPTIONS=--max-old-space-size=1024
EXPOSE 4200

FROM base AS identity-provider
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
COPY --from=assembled /app /app
WORKDIR /app/apps/$SERVICE
# A numeric id, so that Kubernetes can verify that it is not root. Nothing below /app is writable, and the service writes no files.
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["/usr/local/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
# Arguments are a command of the service, such as migrate; the default is serve.
ENTRYPOINT ["/usr/local/bin/node", "dist/main.js"]
