-- Creates the database of a service, the ordinary role that owns it and migrates it, and the role of the service, to which each migration
-- grants privileges. Run it once, as a superuser or as a role with CREATEDB and CREATEROLE:
--
--   psql --set=name=hub --set=owner_password=… --set=service_password=… --file=create-database.sql
--
-- In the containers of docker-compose.yml, the variable SERVICE and files with secrets set these values.
\set ON_ERROR_STOP on
\if :{?name}
\else
  \getenv name SERVICE
  \set owner_password `cat "/run/secrets/$SERVICE-owner-password"`
  \set service_password `cat "/run/secrets/$SERVICE-service-password"`
\endif
SELECT :'name' || '_service' AS service_role \gset
CREATE ROLE :"name" LOGIN PASSWORD :'owner_password';
CREATE ROLE :"service_role" LOGIN PASSWORD :'service_password';
-- Only a member of a role, or a superuser, can create a database for it.
GRANT :"name" TO CURRENT_USER;
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"name" TO :"service_role";
REVOKE :"name" FROM CURRENT_USER;
