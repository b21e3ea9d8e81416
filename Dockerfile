# syntax=docker/dockerfile:1.10
# Image of Gauntlet for pods and CI jobs: docker build -t gateway-gauntlet:0.1.0 .

FROM node:20.19.5-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts && chmod 0755 dist/src/main.js

FROM node:20.19.5-bookworm-slim
LABEL org.opencontainers.image.title="gateway-gauntlet" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production NO_COLOR=1
WORKDIR /opt/gauntlet
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./dist
COPY --from=build /src/schemas ./schemas
COPY --from=build /src/suites/throughput ./suites/throughput
COPY --from=build /src/suites/k6 ./suites/k6
RUN ln -s /opt/gauntlet/dist/src/main.js /usr/local/bin/gauntlet
# By number: Kubernetes can then tell that it is not root.
USER 1000:1000
WORKDIR /home/node
ENTRYPOINT ["gauntlet"]
CMD ["--help"]
