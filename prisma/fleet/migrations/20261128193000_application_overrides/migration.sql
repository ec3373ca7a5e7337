-- AlterTable
ALTER TABLE "application_generations" ADD COLUMN "overrides" JSONB NOT NULL DEFAULT '{}';
