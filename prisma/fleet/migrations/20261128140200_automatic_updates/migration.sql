ALTER TABLE "deployments"
  ADD COLUMN "automatic_generation" INTEGER,
  ADD COLUMN "update_held" JSONB;

-- The deployments that are updated automatically, and the automatic updates whose rollout can be in progress.
CREATE INDEX "deployments_automatic_idx" ON "deployments" ("id") WHERE "updates"->>'from' = 'template';
CREATE INDEX "deployments_automatic_generation_idx" ON "deployments" ("id") WHERE "automatic_generation" = "generation";

-- Why an update is held is shown in lists. Which generation was made automatically is not.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'deployments'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at,pull_requested,host_image,env_bytes,handover,rollout_elapsed_ms,rollout_observed_at,extra_instances,pod_settings,automatic_generation}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "deployments";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "deployments" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_deployment()', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;
