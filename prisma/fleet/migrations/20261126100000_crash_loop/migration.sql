-- Version 0.2.0 does not know the column. A deployment that it observes keeps what is stored.
ALTER TABLE "deployments" ADD COLUMN "crash_loop" JSONB;

-- The new column, which lists show, is recorded as a change.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'deployments'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at,pull_requested,host_image,env_bytes}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "deployments";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "deployments" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_deployment()', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;

-- Lists that begin with the deployments with problems.
CREATE INDEX "deployments_problem_idx"
  ON "deployments" (("phase" IN ('degraded', 'failed', 'retrying')) DESC, "updated_at" DESC, "id");
