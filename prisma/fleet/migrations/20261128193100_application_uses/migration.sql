-- AlterTable
ALTER TABLE "application_generations" ADD COLUMN "uses" JSONB NOT NULL DEFAULT '{}';
