# One image for each role: `--target engine`, `--target api`, `--target valkey`. For a known base, give
# its digest: --build-arg DEBIAN=debian@sha256:… . A mirror that is a snapshot has an expired Release
# file: --build-arg APT_OPTIONS="-o Acquire::Check-Valid-Until=false"; signatures are still checked.
ARG DEBIAN=debian:forky-slim

# The store, for installations without their own.
FROM ${DEBIAN} AS valkey

ARG APT_OPTIONS=
RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends valkey-server valkey-tools \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=valkey --group=valkey /data
USER valkey


# What both programs run on.
FROM ${DEBIAN} AS base

ARG APT_OPTIONS=
RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends ca-certificates python3 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 switchroom \
 && useradd --uid 10001 --gid switchroom --create-home --home-dir /var/lib/switchroom switchroom


# The package, built by locked tools; it needs no network.
FROM base AS build

RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY lock lock
RUN python3 -m venv tools && tools/bin/pip install --no-cache-dir --require-hashes -r lock/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY asterisk-config asterisk-config
COPY docs/operations docs/operations
COPY wire wire
COPY sandbox sandbox
COPY engine engine
COPY api api
COPY sdk sdk
COPY switchroom switchroom
RUN tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir wheels .


FROM build AS engine-packages
RUN python3 -m venv /opt/switchroom/.venv \
 && /opt/switchroom/.venv/bin/pip install --no-cache-dir --require-hashes -r lock/engine.txt \
 && /opt/switchroom/.venv/bin/pip install --no-cache-dir --no-deps wheels/*.whl


FROM build AS api-packages
RUN python3 -m venv /opt/switchroom/.venv \
 && /opt/switchroom/.venv/bin/pip install --no-cache-dir --require-hashes -r lock/api.txt \
 && /opt/switchroom/.venv/bin/pip install --no-cache-dir --no-deps wheels/*.whl


# The engine.
FROM base AS engine

RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends espeak-ng \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=switchroom --group=switchroom /var/lib/switchroom/recordings
COPY --from=engine-packages /opt/switchroom/.venv /opt/switchroom/.venv
USER switchroom
WORKDIR /var/lib/switchroom
VOLUME /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
CMD ["switchroom", "engine"]


# The REST layer.
FROM base AS api

COPY --from=api-packages /opt/switchroom/.venv /opt/switchroom/.venv
USER switchroom
WORKDIR /var/lib/switchroom
VOLUME /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
CMD ["switchroom", "api"]
