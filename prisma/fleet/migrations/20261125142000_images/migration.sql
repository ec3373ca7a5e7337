-- Version 0.2.0 knows none of these columns. Its changes request no pull, as before.
ALTER TABLE "deployments" ADD COLUMN "pull" TEXT NOT NULL DEFAULT 'auto',
  ADD COLUMN "pull_requested" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "host_image" JSONB,
  ADD COLUMN "image_digest" TEXT;

-- The new columns that lists show are recorded as changes.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'deployments'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at,pull_requested,host_image}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "deployments";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "deployments" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_deployment()', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;
