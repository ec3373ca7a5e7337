-- The revision of the template that was copied; null: not known. Previous versions do not know these columns.
ALTER TABLE "workload_revisions" ADD COLUMN "template_revision" INTEGER,
  ADD COLUMN "acknowledged" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

ALTER TABLE "audit_entries" ADD COLUMN "acknowledged" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

ALTER TABLE "catalog_sync" ADD COLUMN "lacks_revisions" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "catalog_advice" (
    "template_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "status_message" TEXT NOT NULL,
    "replacement" TEXT,
    "advisories" JSONB NOT NULL,
    "bytes" INTEGER NOT NULL,

    CONSTRAINT "catalog_advice_pkey" PRIMARY KEY ("template_id")
);

-- A sync finds out which revision of its template a copy is, and requests acknowledge advisories. Both only add to what is known.
CREATE OR REPLACE FUNCTION workload_revision_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('fleet.seals_values', true) = 'on'
    AND to_jsonb(NEW) - 'spec' - 'overrides' - 'spec_bytes' = to_jsonb(OLD) - 'spec' - 'overrides' - 'spec_bytes'
    AND NEW.spec - 'env' = OLD.spec - 'env' AND NEW.overrides - 'env' = OLD.overrides - 'env' THEN
    RETURN NEW;
  END IF;
  IF (NEW.template_revision, NEW.acknowledged) IS DISTINCT FROM (OLD.template_revision, OLD.acknowledged)
    AND to_jsonb(NEW) - 'template_revision' - 'acknowledged' = to_jsonb(OLD) - 'template_revision' - 'acknowledged'
    AND (OLD.template_revision IS NULL OR NEW.template_revision IS NOT DISTINCT FROM OLD.template_revision)
    AND NEW.acknowledged @> OLD.acknowledged THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'revisions of workloads cannot be changed' USING ERRCODE = 'insufficient_privilege';
END $$;
