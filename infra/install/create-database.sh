#!/bin/sh
# Creates the passwords of the two roles of a new database and the key that encrypts the secrets in it, writes the key and the URLs of
# the database to /etc/svc-@service@/secrets, and prints the SQL that creates the roles and the database:
#
#   /usr/share/svc-@service@/create-database 127.0.0.1:5432 | runuser -u postgres -- psql
#
# Parameters of the URLs can follow the address: 'db.example.com:5432/?sslmode=verify-full'
set -eu
given=${1:?state the address of PostgreSQL, such as 127.0.0.1:5432}
case $given in *'/?'*) parameters=?${given#*'/?'} ;; *) parameters= ;; esac
address=${given%%/*}
secrets=/etc/svc-@service@/secrets
if [ -e "$secrets/database-url" ]; then
  echo "$secrets/database-url exists. Remove it to create another database." >&2
  exit 1
fi

password() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
# <file> <mode> <group>: writes the input to a file in the folder of the secrets
write() { install -m "$2" -g "$3" /dev/stdin "$secrets/$1"; }
owner=$(password)
service=$(password)
echo "postgresql://@service@:$owner@$address/@service@$parameters" | write migration-database-url 600 root
echo "postgresql://@service@_service:$service@$address/@service@$parameters" | write database-url 640 svc-@service@
echo "k1:$(head -c 32 /dev/urandom | base64)" | write encryption-keys 640 svc-@service@

printf '%s\n' '\set ON_ERROR_STOP on' '\set name @service@' "\set owner_password $owner" "\set service_password $service"
cat /usr/share/svc-@service@/create-database.sql
