-- The domain in which pods find each other by names, which an admin sets, and whether the fleet can isolate them, as the last check found.
ALTER TABLE "clusters" ADD COLUMN "cluster_domain" TEXT NOT NULL DEFAULT 'cluster.local',
ADD COLUMN "network_policies" BOOLEAN NOT NULL DEFAULT false;

-- The new column of clusters that lists show is recorded as a change.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'clusters'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{check_at,check_failures,last_seen_at,sealed,key_id,missing_permissions,disruption_budgets,network_policies}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "clusters";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "clusters" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_change(''clusters'')', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;
