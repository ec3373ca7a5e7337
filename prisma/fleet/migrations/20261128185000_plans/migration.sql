-- AlterTable
ALTER TABLE "workload_revisions" ADD COLUMN     "described" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "plans" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "created_by_user" UUID,
    "created_by_token" UUID,
    "set_name" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "options" JSONB NOT NULL,
    "files" JSONB NOT NULL,
    "summary" JSONB NOT NULL,
    "decision" JSONB NOT NULL,
    "digest" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL DEFAULT (transaction_timestamp() + '24:00:00'::interval),
    "applied_at" TIMESTAMPTZ(3),
    "applied_by" TEXT,

    CONSTRAINT "plans_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "set_objects" (
    "kind" TEXT NOT NULL,
    "object_id" UUID NOT NULL,
    "set_name" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "file" TEXT NOT NULL,
    "line" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,
    "plan_id" UUID NOT NULL,
    "applied_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "set_objects_pkey" PRIMARY KEY ("kind","object_id")
);

-- CreateIndex
CREATE INDEX "plans_created_at_id_idx" ON "plans"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "plans_set_name_idx" ON "plans"("set_name");

-- CreateIndex
CREATE INDEX "set_objects_set_name_idx" ON "set_objects"("set_name");

ALTER TABLE "plans"
  ADD CONSTRAINT "plans_state_check" CHECK ("state" IN ('ready', 'refused', 'unchanged', 'applied', 'outdated')),
  ADD CONSTRAINT "plans_applied_check" CHECK (("state" = 'applied') = ("applied_at" IS NOT NULL));

-- What can still be applied.
CREATE INDEX "plans_ready_idx" ON "plans" ("created_at") WHERE "state" = 'ready';

-- What was decided does not change, and an application is final.
CREATE FUNCTION plan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'applied' OR to_jsonb(OLD) - '{state,applied_at,applied_by}'::text[] <> to_jsonb(NEW) - '{state,applied_at,applied_by}'::text[] THEN
    RAISE EXCEPTION 'plan % cannot be changed', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER plan_refuse_change BEFORE UPDATE ON "plans" FOR EACH ROW EXECUTE FUNCTION plan_refuse_change();

-- A deleted object is no longer managed.
CREATE FUNCTION set_object_forget() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  DELETE FROM set_objects WHERE kind = TG_ARGV[0] AND object_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER set_object_forget AFTER DELETE ON "deployments" FOR EACH ROW EXECUTE FUNCTION set_object_forget('deployment');

-- The role that serves has few privileges.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION set_object_forget() SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
