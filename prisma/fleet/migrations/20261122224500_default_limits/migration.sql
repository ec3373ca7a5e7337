-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "default_memory_bytes" BIGINT,
ADD COLUMN     "default_processes" INTEGER;
