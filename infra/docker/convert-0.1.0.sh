#!/bin/sh
# Writes the secrets of version 0.1.0, which are in .env, to files in secrets/, and creates the roles of the services in the databases. Run
# it in the folder of .env and docker-compose.yml. docs/upgrade.md describes what .env must contain.
#
# Delete after 0.2: this file, and its test.
set -eu
docker compose config --quiet # fails if hub.env or fleet.env is missing
. ./.env
"$(dirname "$0")/create-secrets.sh"

convert() { # <service> <password of its role>
  echo "$2" > "secrets/$1-owner-password"
  echo "postgresql://$1:$2@$1-database:5432/$1" > "secrets/$1-migration-database-url"
}
convert hub "$HUB_DATABASE_PASSWORD"
convert fleet "$FLEET_DATABASE_PASSWORD"
echo "$POSTGRES_PASSWORD" > secrets/postgres-password
echo "$ENCRYPTION_KEYS" > secrets/fleet-encryption-keys
echo "${HUB_API_KEY:-}" > secrets/fleet-hub-api-key
echo "${SVC_TEMP_ADMIN_PASSWORD:-}" > secrets/fleet-temporary-admin-password

docker compose up --detach --wait hub-database fleet-database
for service in hub fleet; do
  docker compose exec -T "$service-database" psql --username=postgres --set=ON_ERROR_STOP=1 << SQL
CREATE ROLE ${service}_service LOGIN PASSWORD '$(cat "secrets/$service-service-password")';
GRANT CONNECT ON DATABASE $service TO ${service}_service;
SQL
done
