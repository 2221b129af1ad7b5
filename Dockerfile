# The engine.
FROM debian:forky-slim

# a mirror may be a snapshot whose Release file has expired; signatures are still checked
RUN apt-get -o Acquire::Check-Valid-Until=false update \
 && apt-get install --yes --no-install-recommends ca-certificates espeak-ng python3 python3-venv \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --create-home --home-dir /var/lib/switchroom switchroom

WORKDIR /opt/switchroom
COPY pyproject.toml README.md ./
COPY wire wire
COPY engine engine
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir .

USER switchroom
WORKDIR /var/lib/switchroom
VOLUME /var/lib/switchroom
ENV PATH=/opt/switchroom/.venv/bin:$PATH
CMD ["switchroom", "engine"]
