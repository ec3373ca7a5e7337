-- AlterTable
ALTER TABLE "application_specs"
  ADD COLUMN "catalog_id" UUID,
  ADD COLUMN "catalog_slug" TEXT,
  ADD COLUMN "catalog_hash" TEXT;
