-- AlterTable
ALTER TABLE "deployments" ADD COLUMN "deletes_workload" BOOLEAN NOT NULL DEFAULT false;

-- A workload that was created in the same transaction as its deployment, by the same caller and with the same name, was created from
-- a template by that deployment. All other existing workloads are kept.
UPDATE "deployments" d SET "deletes_workload" = true FROM "workloads" w
WHERE w.id = d.workload_id AND w.name = d.name AND w.created_at = d.created_at AND w.created_by = d.created_by;
