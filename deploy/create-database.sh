#!/bin/sh
# Creates the user and the database of the service, as docs/database.md requires. The image of PostgreSQL runs it
# at its first start.
set -e
psql --set=ON_ERROR_STOP=1 --set=password="$BELLWETHER_PASSWORD" --username postgres <<'SQL'
create role bellwether login createrole password :'password';
create database bellwether owner bellwether encoding 'UTF8' template template0;
SQL
