-- AlterTable
ALTER TABLE "secrets" ADD COLUMN "server" TEXT;
