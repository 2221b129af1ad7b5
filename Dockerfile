# The store: Debian's Valkey, for installations without their own.
FROM debian:forky-slim AS valkey

RUN apt-get -o Acquire::Check-Valid-Until=false update \
 && apt-get install --yes --no-install-recommends valkey-server valkey-tools \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=valkey --group=valkey /data
USER valkey


# The engine.
FROM debian:forky-slim AS engine

# a mirror may be a snapshot with an expired Release file; signatures are still checked
RUN apt-get -o Acquire::Check-Valid-Until=false update \
 && apt-get install --yes --no-install-recommends ca-certificates espeak-ng python3 python3-venv \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 switchroom \
 && useradd --uid 10001 --gid switchroom --create-home --home-dir /var/lib/switchroom switchroom \
 && install --directory --owner=switchroom --group=switchroom /var/lib/switchroom/recordings

WORKDIR /opt/switchroom
COPY pyproject.toml README.md ./
COPY wire wire
COPY engine engine
COPY api api
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir '.[otel]'

USER switchroom
WORKDIR /var/lib/switchroom
VOLUME /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
CMD ["switchroom", "engine"]
