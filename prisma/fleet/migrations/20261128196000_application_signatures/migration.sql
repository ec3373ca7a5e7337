-- AlterTable
ALTER TABLE "application_specs" ADD COLUMN "trust" JSONB;

-- AlterTable
ALTER TABLE "catalog_applications" ADD COLUMN "signed" JSONB;
