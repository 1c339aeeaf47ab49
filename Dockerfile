# docker build -t modelgate .
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY dashboard/package.json dashboard/package.json
COPY tools/node/package.json tools/node/package.json
COPY tools/openapi/package.json tools/openapi/package.json
RUN npm ci
COPY . .
RUN npm run build && npm pack --pack-destination /package

FROM node:24-bookworm-slim
COPY --from=build /package/*.tgz /tmp/
RUN npm install --global --omit=dev --omit=optional /tmp/*.tgz && rm -rf /tmp/*.tgz /root/.npm \
  && install --directory --owner=node --group=node --mode=0700 /data
USER node
ENV DATA_DIR=/data GATEWAY_HOST=0.0.0.0 NODE_ENV=production XDG_CACHE_HOME=/tmp
VOLUME /data
EXPOSE 20128
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.GATEWAY_PORT || 20128) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["gateway"]
CMD ["serve", "--non-interactive"]
