-- AlterTable
ALTER TABLE "secrets" ADD COLUMN     "purposes" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "workloads" JSONB;
