-- AlterTable
ALTER TABLE "update_run_items" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'deployment';

ALTER TABLE "update_run_items" ADD CONSTRAINT "update_run_items_kind_check" CHECK ("kind" IN ('deployment', 'application'));
