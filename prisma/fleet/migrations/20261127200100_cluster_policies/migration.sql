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
