-- CreateTable
CREATE TABLE "applications" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "desired_state" "DesiredState" NOT NULL DEFAULT 'running',
    "generation" INTEGER NOT NULL DEFAULT 1,
    "good_generation" INTEGER,
    "failed_generation" INTEGER,
    "on_failure" TEXT NOT NULL DEFAULT 'auto',
    "deleting" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "applications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "application_specs" (
    "application_id" UUID NOT NULL,
    "spec_version" INTEGER NOT NULL,
    "spec" JSONB NOT NULL,

    CONSTRAINT "application_specs_pkey" PRIMARY KEY ("application_id","spec_version")
);

-- CreateTable
CREATE TABLE "application_generations" (
    "application_id" UUID NOT NULL,
    "generation" INTEGER NOT NULL,
    "spec_version" INTEGER NOT NULL,
    "inputs" JSONB NOT NULL,
    "replicas" JSONB NOT NULL,
    "parts" JSONB NOT NULL,
    "operation" TEXT NOT NULL,
    "fingerprint" TEXT,
    "outcome" TEXT,
    "outcome_reason" TEXT,
    "outcome_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,

    CONSTRAINT "application_generations_pkey" PRIMARY KEY ("application_id","generation")
);

-- CreateTable
CREATE TABLE "application_events" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "kind" "EventKind" NOT NULL,
    "generation" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "actor" TEXT,

    CONSTRAINT "application_events_pkey" PRIMARY KEY ("id")
);

-- AlterTable
ALTER TABLE "deployments"
  ADD COLUMN "application_id" UUID,
  ADD COLUMN "part" TEXT,
  ADD COLUMN "waits_for" JSONB;

-- AlterTable
ALTER TABLE "sealed_values" ADD COLUMN "application_id" UUID;

-- AlterTable
ALTER TABLE "idempotency_keys"
  ADD COLUMN "application_id" UUID,
  ALTER COLUMN "deployment_id" DROP NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "applications_name_key" ON "applications"("name");

-- CreateIndex
CREATE INDEX "applications_created_at_id_idx" ON "applications"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "application_events_application_id_at_id_idx" ON "application_events"("application_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "deployments_application_id_part_key" ON "deployments"("application_id", "part");

-- CreateIndex
CREATE INDEX "sealed_values_application_id_idx" ON "sealed_values"("application_id");

-- AddForeignKey
ALTER TABLE "application_specs" ADD CONSTRAINT "application_specs_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "application_generations" ADD CONSTRAINT "application_generations_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "application_events" ADD CONSTRAINT "application_events_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sealed_values" ADD CONSTRAINT "sealed_values_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "deployments" ADD CONSTRAINT "deployments_part_check" CHECK (("application_id" IS NULL) = ("part" IS NULL));
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_object_check" CHECK (num_nonnulls("deployment_id", "application_id") = 1);
ALTER TABLE "applications" ADD CONSTRAINT "applications_on_failure_check" CHECK ("on_failure" IN ('auto', 'roll_back', 'stop'));

-- The applications whose generation has not been proven, which a worker observes.
CREATE INDEX "applications_open_idx" ON "applications" ("id") WHERE "good_generation" IS DISTINCT FROM "generation";

ALTER TABLE "application_generations"
  ADD CONSTRAINT "application_generations_outcome_check" CHECK ("outcome" IN ('good', 'failed', 'superseded'));
