-- AlterTable
ALTER TABLE "applications"
  ADD COLUMN "updates" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "automatic_generation" INTEGER,
  ADD COLUMN "update_held" JSONB;

-- CreateIndex
CREATE INDEX "application_specs_catalog_id_idx" ON "application_specs"("catalog_id");

-- The applications that are upgraded automatically, and the automatic upgrades that can be in progress.
CREATE INDEX "applications_automatic_idx" ON "applications" ("id") WHERE "updates"->>'from' = 'application';
CREATE INDEX "applications_automatic_generation_idx" ON "applications" ("id") WHERE "automatic_generation" = "generation";
