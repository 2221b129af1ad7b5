#!/bin/sh
# Makes certificates for the connections between engines, PBX nodes and the store:
#
#   certificates.sh FOLDER NAME=ALTERNATIVES...
#   certificates.sh .tls engine=IP:127.0.0.1,DNS:localhost valkey=IP:127.0.0.1
#
# writes FOLDER/ca.crt, which all trust, and for each NAME a folder with tls.crt, tls.key and ca.crt. If
# FOLDER has a CA, it signs again: run it before the certificates end, after a year. Keep FOLDER/ca.key
# where no service runs. FOLDER is private; a service gets the folder of its name only.
set -eu
folder=$1
shift
for each in "$@"; do
  case $each in
    [A-Za-z0-9]*=*:*) name=${each%%=*} ;;
    *) name=/ ;;
  esac
  case $name in
    *[!A-Za-z0-9._-]*)
      echo "certificates.sh: $each: NAME=ALTERNATIVES such as engine=IP:127.0.0.1 is expected;" \
        "a NAME has letters, digits, '.', '_' and '-'" >&2
      exit 2
      ;;
  esac
done
umask 077
mkdir -p "$folder"
chmod 700 "$folder"
ec="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

if [ ! -e "$folder/ca.key" ]; then
  openssl req -x509 $ec -days 3650 -subj "/CN=switchroom CA" \
    -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout "$folder/ca.key" -out "$folder/ca.crt" 2>/dev/null
fi
for each in "$@"; do
  name=${each%%=*}
  mkdir -p "$folder/$name"
  openssl req $ec -subj "/CN=$name" -keyout "$folder/$name/tls.key" -out "$folder/request" 2>/dev/null
  printf '%s\n' "subjectAltName=${each#*=}" extendedKeyUsage=serverAuth \
    basicConstraints=critical,CA:FALSE authorityKeyIdentifier=keyid > "$folder/extensions"
  openssl x509 -req -in "$folder/request" -days 365 -extfile "$folder/extensions" \
    -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial -out "$folder/$name/tls.crt" 2>/dev/null
  rm "$folder/request" "$folder/extensions"
  cp "$folder/ca.crt" "$folder/$name/ca.crt"
  # Containers have users of their own; on this host the folder above is closed to others.
  chmod -R a+rX "$folder/$name"
done
