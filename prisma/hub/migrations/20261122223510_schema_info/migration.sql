-- CreateTable
CREATE TABLE "schema_info" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "oldest_migration" TEXT NOT NULL,
    "audit_retention_enforced" BOOLEAN NOT NULL DEFAULT false,
    "audit_retention_days" INTEGER,

    CONSTRAINT "schema_info_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "schema_info" ADD CONSTRAINT "schema_info_id_check" CHECK ("id" = 1);
INSERT INTO "schema_info" ("oldest_migration") VALUES ('00000000000000_initial');

-- Deletes only entries that are older than the retention, if the owner of the database has stored one. The caller can be a role that
-- has no right to delete entries.
CREATE OR REPLACE FUNCTION audit_forget(before timestamptz, entry uuid) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  deleted integer;
  permitted timestamptz;
BEGIN
  SELECT CASE WHEN audit_retention_enforced THEN coalesce(now() - make_interval(days => audit_retention_days), '-infinity')
    ELSE before END INTO STRICT permitted FROM schema_info;
  before := least(before, permitted);
  PERFORM set_config('hub.audit_retention', pg_current_xact_id()::text, true);
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE at < before ORDER BY at LIMIT 10000);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('hub.audit_retention', '', true);
  IF deleted > 0 THEN
    INSERT INTO audit_entries (id, method, path, status, request_id)
      VALUES (entry, 'DELETE', 'entries before ' || to_char(before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || deleted, 200, '');
  END IF;
  RETURN deleted;
END $$;
-- Temporary tables of the caller come last. By default, they would come first.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION audit_forget(timestamptz, uuid) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
