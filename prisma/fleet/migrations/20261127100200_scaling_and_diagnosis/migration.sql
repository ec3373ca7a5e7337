-- Version 0.2.0 does not know these columns: it creates deployments that the fleet scales.
ALTER TABLE "deployments" ADD COLUMN "autoscaling" JSONB,
  ADD COLUMN "scaled_by" TEXT NOT NULL DEFAULT 'fleet',
  ADD COLUMN "handover" TEXT,
  ADD COLUMN "observed_scale" JSONB;
ALTER TABLE "deployment_revisions" ADD COLUMN "autoscaling" JSONB,
  ADD COLUMN "scaled_by" TEXT NOT NULL DEFAULT 'fleet';
ALTER TABLE "clusters" ADD COLUMN "credentials_expire_at" TIMESTAMPTZ(3),
  ADD COLUMN "missing_permissions" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- The new columns of deployments, which lists show, are recorded as changes. Those of clusters follow with the policies of clusters.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'deployments'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at,pull_requested,host_image,env_bytes,handover}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "deployments";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "deployments" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_deployment()', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;

-- Placement considers the permissions in a cluster.
CREATE TRIGGER placement_permissions_updated AFTER UPDATE ON "clusters" FOR EACH ROW
  WHEN (OLD.missing_permissions IS DISTINCT FROM NEW.missing_permissions)
  EXECUTE FUNCTION placement_target_changed();
