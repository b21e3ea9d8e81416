# syntax=docker/dockerfile:1.10
# Image of Gauntlet for pods and CI jobs: docker build -t gateway-gauntlet:0.1.0 .

FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# The image holds what the package holds, and the dependencies of the lockfile.
RUN npm pack && mkdir /package && tar -xzf gateway-gauntlet-*.tgz -C /package --strip-components=1 \
    && chmod 0755 /package/dist/src/main.js \
    && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
LABEL org.opencontainers.image.title="gateway-gauntlet" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production NO_COLOR=1
WORKDIR /opt/gauntlet
COPY --from=build /package ./
COPY --from=build /src/node_modules ./node_modules
RUN ln -s /opt/gauntlet/dist/src/main.js /usr/local/bin/gauntlet
# By number: Kubernetes can then tell that it is not root.
USER 1000:1000
WORKDIR /home/node
ENTRYPOINT ["gauntlet"]
CMD ["--help"]
