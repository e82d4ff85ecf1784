# One image for all three programs. TypeScript is compiled in advance, since stripping types at each start would take a third
# of a second and 25 MB. The base image is pinned by digest; docs/releases.md describes how to update it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY cmd cmd
COPY pkg pkg
COPY hack/build.sh hack/build.sh
RUN hack/build.sh dist

# Production dependencies for the target machine. npm omits optional packages that a registry lacks, without an error, so
# the native modules for passwords and snappy are checked.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS modules
ARG TARGETARCH
WORKDIR /kapis
COPY package.json package-lock.json ./
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu="$TARGETARCH" ;; esac \
 && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --libc=glibc --cpu="$cpu" \
 && for module in "@node-rs/bcrypt-linux-$cpu-gnu" "@napi-rs/snappy-linux-$cpu-gnu"; do \
      test -d "node_modules/$module" || { echo "the registry has no $module" >&2; exit 1; }; \
    done

FROM ${NODE_IMAGE}
ARG VERSION=0.0.0
ARG COMMIT=
LABEL org.opencontainers.image.title="kapis" \
      org.opencontainers.image.description="The API server of a container platform on Kubernetes." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
RUN install -d -o 65532 -g 65532 -m 700 /home/nonroot
# Files are owned by root, so that the user of the programs cannot change them.
COPY --from=modules /kapis /kapis
COPY --from=build /src/dist /kapis/
COPY LICENSE /kapis/
COPY manifests /kapis/manifests
WORKDIR /kapis
ENV HOME=/home/nonroot \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=262144 \
    NODE_ENV=production \
    NODE_NO_WARNINGS=1 \
    NODE_OPTIONS=--max-semi-space-size=16 \
    KAPIS_COMMIT="${COMMIT}"
USER 65532:65532
EXPOSE 10250
ENTRYPOINT []
CMD ["node", "/kapis/cmd/apiserver/main.js", "--config", "/etc/kapis/kapis.yaml"]
