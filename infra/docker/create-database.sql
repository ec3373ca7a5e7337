-- psql runs this file once, when the server is initialized. It creates an ordinary role, and the one database that it owns.
\getenv name SERVICE
\getenv password SERVICE_PASSWORD
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
