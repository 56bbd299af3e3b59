#!/bin/sh
# How the certificates beside this file were made, once (OpenSSL 3.0). Keys for tests on loopback: they guard nothing.
# `openssl ca` is used because it alone sets both dates: they must not depend on the day of generation.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
make() { # name, notBefore, notAfter, subjectAltName
  : > "$work/index.txt"
  cat > "$work/ca.cnf" <<CNF
[ca]
default_ca = self
[self]
database = $work/index.txt
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = receiver
[any]
commonName = supplied
[receiver]
basicConstraints = critical, CA:FALSE
subjectAltName = $4
CNF
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=hooks.example.test \
    -keyout "$1.key.pem" -out "$work/$1.csr"
  openssl ca -batch -selfsign -notext -config "$work/ca.cnf" -keyfile "$1.key.pem" -in "$work/$1.csr" \
    -startdate "$2" -enddate "$3" -out "$1.cert.pem"
}
here='DNS:hooks.example.test, DNS:localhost, IP:127.0.0.1'
make receiver 20200101000000Z 21200101000000Z "$here"
make expired 20200101000000Z 20200102000000Z "$here"
make elsewhere 20200101000000Z 21200101000000Z DNS:elsewhere.example.test
rm -r "$work"
