-- psql runs this file once, when the server is initialized. It creates the database, the ordinary role that owns it and migrates it, and
-- the role of the service, to which each migration grants privileges.
\getenv name SERVICE
\set owner_password `cat "/run/secrets/$SERVICE-owner-password"`
\set service_password `cat "/run/secrets/$SERVICE-service-password"`
SELECT :'name' || '_service' AS service_role \gset
CREATE ROLE :"name" LOGIN PASSWORD :'owner_password';
CREATE ROLE :"service_role" LOGIN PASSWORD :'service_password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"name" TO :"service_role";
