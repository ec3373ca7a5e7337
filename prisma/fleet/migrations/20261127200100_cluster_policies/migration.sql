-- What an admin sets for all objects and pods of the fleet in a cluster. The user as which the cluster knows the fleet (null: not known),
-- and which PodDisruptionBudgets it can use there (null: none), are results of the last check.
ALTER TABLE "clusters" ADD COLUMN "allow_service_account_tokens" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "disruption_budgets" TEXT,
ADD COLUMN "fleet_account" TEXT,
ADD COLUMN "object_annotations" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN "object_labels" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN "pod_label_keys" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "priority_class" TEXT,
ADD COLUMN "pull_secrets" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "service_account" TEXT,
ADD COLUMN "uses_limit_range" BOOLEAN NOT NULL DEFAULT false;

-- The settings of the cluster with which the pods of a deployment are rendered; null: on a host, and from before this version.
ALTER TABLE "deployments" ADD COLUMN "pod_settings" JSONB;

-- Placement considers whether pods can get a token.
CREATE TRIGGER placement_tokens_updated AFTER UPDATE ON "clusters" FOR EACH ROW
  WHEN (OLD.allow_service_account_tokens IS DISTINCT FROM NEW.allow_service_account_tokens)
  EXECUTE FUNCTION placement_target_changed();

-- The new columns of clusters that lists show are recorded as changes.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'clusters'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{check_at,check_failures,last_seen_at,sealed,key_id,missing_permissions,disruption_budgets}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "clusters";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "clusters" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_change(''clusters'')', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;
