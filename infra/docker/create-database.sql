-- Run by psql once, when the server's data folder is new: an ordinary role, and the one database that it owns.
\getenv name SERVICE
\getenv password SERVICE_PASSWORD
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
