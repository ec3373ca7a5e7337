-- A worker finds the targets with deployments that are due with the existing index on "due_at". It reads those of each target from these
-- indexes, and the deployments in progress from the last one.
-- CreateIndex
CREATE INDEX "deployments_host_id_due_at_idx" ON "deployments"("host_id", "due_at");

-- CreateIndex
CREATE INDEX "deployments_cluster_id_due_at_idx" ON "deployments"("cluster_id", "due_at");

-- CreateIndex
CREATE INDEX "deployments_lease_until_idx" ON "deployments"("lease_until");

-- DropIndex
DROP INDEX "deployments_host_id_idx";

-- DropIndex
DROP INDEX "deployments_cluster_id_idx";

-- Wakes the workers of all replicas when a deployment becomes due.
CREATE FUNCTION deployment_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY deployment_due;
  RETURN NULL;
END $$;
CREATE TRIGGER deployment_due_inserted AFTER INSERT ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now()) EXECUTE FUNCTION deployment_due();
CREATE TRIGGER deployment_due_updated AFTER UPDATE OF "due_at" ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now() AND NEW."due_at" IS DISTINCT FROM OLD."due_at") EXECUTE FUNCTION deployment_due();
