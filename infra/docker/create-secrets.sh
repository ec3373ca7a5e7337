#!/bin/sh
# Creates the secrets of docker-compose.yml, each in a file of a new folder: infra/docker/create-secrets.sh [folder]
#
# The files are readable for all users, because the services run as another user. The folder protects them: only its owner can enter
# it. An empty file counts as not set.
set -eu
folder=${1:-secrets}
mkdir -m 700 "$folder" # fails if it exists: new passwords would not match existing databases
cd "$folder"
umask 022

for name in postgres-password metrics-token fleet-oidc-client-secret; do openssl rand -hex 24 > "$name"; done
for service in hub fleet; do
  owner=$(openssl rand -hex 24)
  member=$(openssl rand -hex 24)
  echo "$owner" > "$service-owner-password"
  echo "$member" > "$service-service-password"
  echo "postgresql://$service:$owner@$service-database:5432/$service" > "$service-migration-database-url"
  echo "postgresql://${service}_service:$member@$service-database:5432/$service" > "$service-database-url"
  echo "first:$(openssl rand -base64 32)" > "$service-encryption-keys"
done
for name in ca cert key; do : > "audit-delivery-$name"; done
: > hub-oidc-client-secret
: > fleet-hub-api-key
: > fleet-temporary-admin-password
