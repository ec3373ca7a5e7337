-- Version 0.2.0 does not know these columns. Deployments from before this version, and those that version 0.2.0 creates, have no
-- policy and keep their behavior: on hosts, the old instance ends first, and a rollout that fails stays as it is.
ALTER TABLE "deployments"
  ADD COLUMN "updates" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "good_generation" INTEGER,
  ADD COLUMN "rollout" JSONB,
  ADD COLUMN "rollout_elapsed_ms" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "rollout_observed_at" TIMESTAMPTZ(3),
  ADD COLUMN "extra_instances" SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE "deployment_revisions"
  ADD COLUMN "fingerprint" TEXT,
  ADD COLUMN "image_digest" TEXT,
  ADD COLUMN "outcome" TEXT,
  ADD COLUMN "outcome_reason" TEXT,
  ADD COLUMN "outcome_at" TIMESTAMPTZ(3),
  ADD COLUMN "rendered" JSONB;

ALTER TABLE "deployments"
  ADD CONSTRAINT "deployments_good_generation_check" CHECK ("good_generation" <= "generation"),
  ADD CONSTRAINT "deployments_extra_instances_check" CHECK ("extra_instances" IN (0, 1));
ALTER TABLE "deployment_revisions"
  ADD CONSTRAINT "deployment_revisions_outcome_check" CHECK ("outcome" IN ('good', 'failed', 'superseded'));

-- The failed generations, by which an update is recognized that has failed before.
CREATE INDEX "deployment_revisions_failed_idx" ON "deployment_revisions" ("deployment_id", "fingerprint") WHERE "outcome" = 'failed';

-- What runs now is good, and it can be restored in the form in which it runs.
UPDATE "deployments" SET "good_generation" = "generation" WHERE "phase" = 'running' AND "observed_generation" = "generation";
UPDATE "deployment_revisions" v SET "rendered" = jsonb_build_object(
    'defaults_version', d."defaults_version", 'default_memory_bytes', d."default_memory_bytes"::text,
    'default_processes', d."default_processes", 'pod_settings', d."pod_settings", 'restarted_at', d."restarted_at", 'host_image', d."host_image")
  FROM "deployments" d WHERE d."id" = v."deployment_id" AND d."good_generation" = v."generation";

-- The new columns that lists show are recorded as changes.
DO $$
DECLARE
  columns text[] := ARRAY(
    SELECT quote_ident(attname) FROM pg_attribute
    WHERE attrelid = 'deployments'::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL ('{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at,pull_requested,host_image,env_bytes,handover,rollout_elapsed_ms,rollout_observed_at,extra_instances,pod_settings}')
    ORDER BY attnum);
BEGIN
  DROP TRIGGER record_updates ON "deployments";
  EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON "deployments" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION record_deployment()', array_to_string(columns, ', '),
    array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'));
END $$;
