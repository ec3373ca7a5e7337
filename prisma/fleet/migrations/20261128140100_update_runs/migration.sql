-- CreateTable
CREATE TABLE "update_runs" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "created_by_user" UUID,
    "created_by_token" UUID,
    "selection" JSONB NOT NULL,
    "wave" INTEGER NOT NULL,
    "stop_after" INTEGER NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'running',
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "update_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "update_run_items" (
    "run_id" UUID NOT NULL,
    "deployment_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "wave" INTEGER,
    "expected" TEXT,
    "state" TEXT NOT NULL,
    "generation" INTEGER,
    "message" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "update_run_items_pkey" PRIMARY KEY ("run_id","deployment_id")
);

-- CreateIndex
CREATE INDEX "update_runs_created_at_id_idx" ON "update_runs"("created_at" DESC, "id");

-- AddForeignKey
ALTER TABLE "update_run_items" ADD CONSTRAINT "update_run_items_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "update_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "update_runs"
  ADD CONSTRAINT "update_runs_state_check" CHECK ("state" IN ('running', 'completed', 'stopped', 'cancelled')),
  ADD CONSTRAINT "update_runs_finished_check" CHECK (("state" = 'running') = ("finished_at" IS NULL));
ALTER TABLE "update_run_items"
  ADD CONSTRAINT "update_run_items_state_check" CHECK ("state" IN ('waiting', 'updating', 'succeeded', 'failed', 'skipped')),
  ADD CONSTRAINT "update_run_items_waiting_check" CHECK ("state" <> 'waiting' OR ("wave" IS NOT NULL AND "expected" IS NOT NULL)),
  ADD CONSTRAINT "update_run_items_updating_check" CHECK ("state" <> 'updating' OR "generation" IS NOT NULL);

-- What a worker continues.
CREATE INDEX "update_runs_running_idx" ON "update_runs" ("id") WHERE "state" = 'running';
CREATE INDEX "update_run_items_updating_idx" ON "update_run_items" ("run_id") WHERE "state" = 'updating';
