# The image of all three programs. Compiled ahead: Node.js would strip the types at each start, which takes a third of a
# second and 25 MB. Builds are the same bit for bit for the same commit and SOURCE_DATE_EPOCH: base images are named by their digests,
# which are those of all machines; docs/releases.md tells how to renew them.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY cmd cmd
COPY pkg pkg
COPY hack/build.sh hack/build.sh
RUN hack/build.sh dist

# What the programs need when they run, for the machine on which they will; nothing of it is executed here. Optional packages
# that a registry lacks are left out without a word: the one that checks passwords must be there. *.bare is for another runtime. `npm sbom`
# takes packages for development that are not there for missing ones.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS modules
ARG TARGETARCH
ARG SOURCE_DATE_EPOCH
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /src
COPY package.json package-lock.json ./
COPY hack/sbom.ts hack/sbom.ts
COPY hack/sbom hack/sbom
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu="$TARGETARCH" ;; esac \
 && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --libc=glibc --cpu="$cpu" \
 && { test -d "node_modules/@node-rs/bcrypt-linux-$cpu-gnu" || { echo "the registry has no @node-rs/bcrypt-linux-$cpu-gnu" >&2; exit 1; }; } \
 && npm pkg delete devDependencies \
 && npm sbom --sbom-format=spdx | node hack/sbom.ts > /sbom.spdx.json \
 && find node_modules -type f \( -name '*.md' -o -name '*.markdown' -o -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' -o -name '*.bare' \) -delete

FROM ${NODE_IMAGE} AS node

FROM ${BASE_IMAGE}
ARG VERSION=0.0.0
ARG COMMIT=
LABEL org.opencontainers.image.title="kapis" \
      org.opencontainers.image.description="The API server of a container platform on Kubernetes." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=node /usr/local/bin/node /usr/local/bin/node
# All of it root's: WORKDIR before would make /kapis a folder of the user that the base image names, who runs the programs.
COPY --from=modules /sbom.spdx.json /kapis/
COPY --from=modules /src/node_modules /kapis/node_modules
COPY package.json LICENSE /kapis/
COPY manifests /kapis/manifests
COPY --from=build /src/dist /kapis/
WORKDIR /kapis
# glibc would keep what the log store's threads have freed.
ENV MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=262144 \
    NODE_ENV=production \
    NODE_NO_WARNINGS=1 \
    KAPIS_COMMIT="${COMMIT}"
USER 65532:65532
EXPOSE 10250
ENTRYPOINT []
CMD ["node", "/kapis/cmd/apiserver/main.js", "--config", "/etc/kapis/kapis.yaml"]
