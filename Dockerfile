# One image for each role: `--target engine`, `--target api`, `--target streams`, `--target speech`, `--target valkey`. For a known base, give
# its digest: --build-arg DEBIAN=debian@sha256:… . A mirror that is a snapshot has an expired Release
# file: --build-arg APT_OPTIONS="-o Acquire::Check-Valid-Until=false"; signatures are still checked.
# `make release` gives VERSION and REVISION, which are labels. The health checks are of programs without
# TLS; docker-compose.tls.yml has those of engines with TLS.
ARG DEBIAN=debian:forky-slim

# The store, for installations without their own.
FROM ${DEBIAN} AS valkey

ARG APT_OPTIONS=
RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends valkey-server valkey-tools \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=valkey --group=valkey /data
USER valkey
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="switchroom-valkey" \
      org.opencontainers.image.description="Debian's Valkey, the store of Switchroom" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"


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

ARG APT_OPTIONS=
RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends binutils python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY lock lock
RUN python3 -m venv tools && tools/bin/pip install --no-cache-dir --require-hashes -r lock/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY asterisk-config asterisk-config
COPY docs/operations docs/operations
COPY wire wire
COPY base base
COPY speech speech
COPY dev dev
COPY engine engine
COPY cli cli
COPY api api
COPY streams streams
COPY sdk sdk
COPY switchroom switchroom
RUN tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir wheels .


FROM build AS engine-packages
RUN python3 -m venv --without-pip /opt/switchroom/.venv \
 && python3 lock/program.py engine > packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --require-hashes -r packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --no-deps wheels/*.whl


# Without the symbols of libraries, a sixth of it: nothing here debugs them. (Not so in the engine: those
# of its packages that were changed after they were linked would break.) Nor with compiled modules, a fifth
# of the image: the first start in a container compiles what it imports, for two seconds of a processor.
FROM build AS api-packages
RUN python3 -m venv --without-pip /opt/switchroom/.venv \
 && python3 lock/program.py api > packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --no-compile --require-hashes -r packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --no-compile --no-deps wheels/*.whl \
 && find /opt/switchroom/.venv -name '*.so' -exec strip --strip-unneeded {} +


FROM build AS streams-packages
RUN python3 -m venv --without-pip /opt/switchroom/.venv \
 && python3 lock/program.py streams > packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --require-hashes -r packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --no-deps wheels/*.whl


FROM build AS speech-packages
RUN python3 -m venv --without-pip /opt/switchroom/.venv \
 && python3 lock/program.py speech > packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --require-hashes -r packages.txt \
 && tools/bin/pip --python /opt/switchroom/.venv install --no-cache-dir --no-deps wheels/*.whl


# The engine.
FROM base AS engine

ARG APT_OPTIONS=
RUN apt-get ${APT_OPTIONS} update \
 && apt-get install --yes --no-install-recommends espeak-ng \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=switchroom --group=switchroom /var/lib/switchroom/recordings
COPY --from=engine-packages /opt/switchroom/.venv /opt/switchroom/.venv
USER switchroom
WORKDIR /var/lib/switchroom
VOLUME /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["python3", "-c", "import os, urllib.request as http; http.urlopen('http://127.0.0.1:' + os.environ.get('SWITCHROOM_RPC_PORT', '8070') + '/readyz', timeout=2)"]
CMD ["switchroom", "engine"]
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="switchroom-engine" \
      org.opencontainers.image.description="Engine of Switchroom, a voice API for Asterisk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"


# The stream gateway.
FROM base AS streams

COPY --from=streams-packages /opt/switchroom/.venv /opt/switchroom/.venv
USER switchroom
WORKDIR /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["python3", "-c", "import os, urllib.request as http; http.urlopen('http://127.0.0.1:' + os.environ.get('SWITCHROOM_STREAMS_PORT', '8095') + '/healthz', timeout=2)"]
CMD ["switchroom", "streams"]
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="switchroom-streams" \
      org.opencontainers.image.description="Stream gateway of Switchroom, a voice API for Asterisk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"


# The speech recognizers. A model of Whisper is mounted, for example at /models.
FROM base AS speech

COPY --from=speech-packages /opt/switchroom/.venv /opt/switchroom/.venv
USER switchroom
WORKDIR /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["python3", "-c", "import os, urllib.request as http; http.urlopen('http://127.0.0.1:' + os.environ.get('SWITCHROOM_SPEECH_PORT', '8096') + '/healthz', timeout=2)"]
CMD ["switchroom", "speech"]
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="switchroom-speech" \
      org.opencontainers.image.description="Speech recognizers of Switchroom, a voice API for Asterisk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"


# The REST layer.
FROM base AS api

COPY --from=api-packages /opt/switchroom/.venv /opt/switchroom/.venv
USER switchroom
WORKDIR /var/lib/switchroom
VOLUME /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH \
    PYTHONPYCACHEPREFIX=/tmp/python
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["python3", "-c", "import os, urllib.request as http; http.urlopen('http://127.0.0.1:' + os.environ.get('SWITCHROOM_API_METRICS_PORT', '8001') + '/readyz', timeout=2)"]
CMD ["switchroom", "api"]
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="switchroom-api" \
      org.opencontainers.image.description="REST layer of Switchroom, a voice API for Asterisk" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

