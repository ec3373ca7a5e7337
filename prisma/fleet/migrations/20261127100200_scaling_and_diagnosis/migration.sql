-- Version 0.2.0 does not know these columns: it creates deployments that the fleet scales.
ALTER TABLE "deployments" ADD COLUMN "autoscaling" JSONB,
  ADD COLUMN "scaled_by" TEXT NOT NULL DEFAULT 'fleet',
  ADD COLUMN "handover" TEXT,
  ADD COLUMN "observed_scale" JSONB;
ALTER TABLE "deployment_revisions" ADD COLUMN "autoscaling" JSONB,
  ADD COLUMN "scaled_by" TEXT NOT NULL DEFAULT 'fleet';
ALTER TABLE "clusters" ADD COLUMN "credentials_expire_at" TIMESTAMPTZ(3),
  ADD COLUMN "missing_permissions" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- The new columns, which lists show, are recorded as changes.
DO $$
DECLARE
  list record;
  columns text[];
BEGIN
  FOR list IN SELECT * FROM (VALUES
    ('deployments', 'record_deployment()',
     '{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at,pull_requested,host_image,env_bytes,handover}'::text[]),
    ('clusters', 'record_change(''clusters'')', '{check_at,check_failures,last_seen_at,sealed,key_id,missing_permissions}')
  ) AS lists (name, function, ignored) LOOP
    columns := ARRAY(
      SELECT quote_ident(attname) FROM pg_attribute
      WHERE attrelid = list.name::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL (list.ignored)
      ORDER BY attnum);
    EXECUTE format('DROP TRIGGER record_updates ON %I', list.name);
    EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON %I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION %s', array_to_string(columns, ', '), list.name,
      array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'), list.function);
  END LOOP;
END $$;

-- Placement considers the permissions in a cluster.
CREATE TRIGGER placement_permissions_updated AFTER UPDATE ON "clusters" FOR EACH ROW
  WHEN (OLD.missing_permissions IS DISTINCT FROM NEW.missing_permissions)
  EXECUTE FUNCTION placement_target_changed();
