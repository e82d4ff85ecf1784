# The image of all three programs. Compiled ahead: Node.js would strip the types at each start, which takes a third of a
# second and 25 MB. Builds are the same bit for bit for the same commit and SOURCE_DATE_EPOCH: the base image is named by its digest,
# which is that of all machines; docs/releases.md tells how to renew it.
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

# What the programs need when they run, for the machine on which they will; nothing of it is executed here. Optional packages
# that a registry lacks are left out without a word: the one that checks passwords must be there. `npm sbom` takes packages for
# development that are not there for missing ones.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS modules
ARG TARGETARCH
ARG SOURCE_DATE_EPOCH
WORKDIR /src
COPY package.json package-lock.json ./
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu="$TARGETARCH" ;; esac \
 && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --libc=glibc --cpu="$cpu" \
 && { test -d "node_modules/@node-rs/bcrypt-linux-$cpu-gnu" || { echo "the registry has no @node-rs/bcrypt-linux-$cpu-gnu" >&2; exit 1; }; } \
 && npm pkg delete devDependencies \
 && npm sbom --sbom-format=spdx > npm.spdx.json
COPY hack/sbom.ts hack/sbom.ts
COPY hack/sbom hack/sbom
COPY hack/image hack/image
COPY --from=build /src/dist /kapis/
RUN mv node_modules /kapis/ \
 && node --experimental-import-meta-resolve hack/image/prune.ts /kapis \
 && node hack/sbom.ts /kapis < npm.spdx.json > /kapis/sbom.spdx.json

FROM ${NODE_IMAGE} AS node

# What is needed of it, without which the image would be a hundred megabytes larger.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS root
WORKDIR /src
COPY hack/image hack/image
RUN --mount=type=bind,from=node,target=/node hack/image/root.sh /node /rootfs \
 && install -d -o 65532 -g 65532 -m 700 /rootfs/home/nonroot

FROM scratch
ARG VERSION=0.0.0
ARG COMMIT=
LABEL org.opencontainers.image.title="kapis" \
      org.opencontainers.image.description="The API server of a container platform on Kubernetes." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=root /rootfs /
# All of it root's: WORKDIR before would make /kapis a folder of the user who runs the programs.
COPY --from=modules /kapis /kapis
COPY package.json LICENSE /kapis/
COPY manifests /kapis/manifests
WORKDIR /kapis
# glibc would keep what the log store's threads have freed.
ENV PATH=/usr/local/bin \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=262144 \
    NODE_ENV=production \
    NODE_NO_WARNINGS=1 \
    KAPIS_COMMIT="${COMMIT}"
USER 65532:65532
EXPOSE 10250
ENTRYPOINT []
CMD ["node", "/kapis/cmd/apiserver/main.js", "--config", "/etc/kapis/kapis.yaml"]
