#!/bin/sh
# Write the configuration for this container's PBX_… variables, then become Asterisk, under jemalloc
# (0.6 times the memory).
set -eu
python3 /opt/switchroom/prepare.py /srv/switchroom
LD_PRELOAD=$(echo /usr/lib/*/libjemalloc.so.2)
export LD_PRELOAD
exec asterisk -C /srv/switchroom/etc/asterisk.conf -f -n
