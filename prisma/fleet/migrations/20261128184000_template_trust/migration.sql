-- AlterTable
ALTER TABLE "catalog_templates" ADD COLUMN "trust" JSONB;
