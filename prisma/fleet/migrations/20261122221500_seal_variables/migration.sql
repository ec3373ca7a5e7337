-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "bindings" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "sealed_values" (
    "id" UUID NOT NULL,
    "deployment_id" UUID,
    "workload_id" UUID,
    "variable" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "sealed_values_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sealed_values_deployment_id_idx" ON "sealed_values"("deployment_id");

-- CreateIndex
CREATE INDEX "sealed_values_workload_id_idx" ON "sealed_values"("workload_id");

-- CreateIndex
CREATE INDEX "deployments_bindings_idx" ON "deployments" USING GIN ("bindings");

-- AddForeignKey
ALTER TABLE "sealed_values" ADD CONSTRAINT "sealed_values_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sealed_values" ADD CONSTRAINT "sealed_values_workload_id_fkey" FOREIGN KEY ("workload_id") REFERENCES "workloads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Plain values of secret variables in `env` of a revision are replaced by references to sealed values. Nothing else changes.
CREATE OR REPLACE FUNCTION workload_revision_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('fleet.seals_values', true) = 'on'
    AND to_jsonb(NEW) - 'spec' - 'overrides' = to_jsonb(OLD) - 'spec' - 'overrides'
    AND NEW.spec - 'env' = OLD.spec - 'env' AND NEW.overrides - 'env' = OLD.overrides - 'env' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'revisions of workloads cannot be changed' USING ERRCODE = 'insufficient_privilege';
END $$;
