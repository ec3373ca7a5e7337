-- AlterTable
ALTER TABLE "plans" ADD COLUMN     "commit" TEXT,
ADD COLUMN     "source_id" UUID;

-- CreateTable
CREATE TABLE "sources" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "set_name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "branch" TEXT NOT NULL,
    "folder" TEXT NOT NULL,
    "user_name" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "has_token" BOOLEAN NOT NULL,
    "interval_seconds" INTEGER NOT NULL,
    "mode" TEXT NOT NULL,
    "heal" BOOLEAN NOT NULL,
    "prune" TEXT NOT NULL,
    "max_deletions" INTEGER NOT NULL,
    "approval" TEXT NOT NULL,
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "commit" TEXT,
    "commit_title" TEXT,
    "commit_author" TEXT,
    "committed_at" TIMESTAMPTZ(3),
    "applied_commit" TEXT,
    "plan_id" UUID,
    "settled" BOOLEAN NOT NULL DEFAULT false,
    "drift" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "check_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "failure" TEXT,
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_by_user" UUID,
    "created_by_token" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "sources_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sources_name_key" ON "sources"("name");

-- CreateIndex
CREATE UNIQUE INDEX "sources_set_name_key" ON "sources"("set_name");

-- CreateIndex
CREATE INDEX "sources_created_by_user_idx" ON "sources"("created_by_user");

-- CreateIndex
CREATE INDEX "sources_created_by_token_idx" ON "sources"("created_by_token");

ALTER TABLE "sources"
  ADD CONSTRAINT "sources_mode_check" CHECK ("mode" IN ('manual', 'automatic')),
  ADD CONSTRAINT "sources_prune_check" CHECK ("prune" IN ('never', 'ask', 'automatic')),
  ADD CONSTRAINT "sources_approval_check" CHECK ("approval" IN ('none', 'deletions', 'all'));

-- What is checked next, and the source of a plan.
CREATE INDEX "sources_due_idx" ON "sources" ("check_at") WHERE "disabled_at" IS NULL;
CREATE INDEX "sources_plan_id_idx" ON "sources" ("plan_id") WHERE "plan_id" IS NOT NULL;
