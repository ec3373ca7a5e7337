-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "kind" TEXT NOT NULL,
    "object_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "severity" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "events_seq_key" ON "events"("seq");

-- CreateIndex
CREATE INDEX "events_at_id_idx" ON "events"("at" DESC, "id");

-- CreateIndex
CREATE INDEX "events_object_id_at_idx" ON "events"("object_id", "at" DESC);

-- An object has a problem once until it recovers, whichever process finds it first.
CREATE UNIQUE INDEX "events_unresolved_key" ON "events" ("object_id", "reason") WHERE "severity" = 'warning' AND "resolved_at" IS NULL;

-- The stream of changes. Events that are deleted because of their age are not recorded.
CREATE CONSTRAINT TRIGGER record_rows AFTER INSERT ON "events" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION record_change('events');
CREATE CONSTRAINT TRIGGER record_resolved AFTER UPDATE OF "resolved_at" ON "events" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD."resolved_at" IS DISTINCT FROM NEW."resolved_at") EXECUTE FUNCTION record_change('events');

-- A deleted object has no problems.
CREATE FUNCTION resolve_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE events SET resolved_at = clock_timestamp()
  WHERE object_id = OLD.id AND severity = 'warning' AND resolved_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER resolve_events AFTER DELETE ON "hosts" FOR EACH ROW EXECUTE FUNCTION resolve_events();
CREATE TRIGGER resolve_events AFTER DELETE ON "clusters" FOR EACH ROW EXECUTE FUNCTION resolve_events();
CREATE TRIGGER resolve_events AFTER DELETE ON "deployments" FOR EACH ROW EXECUTE FUNCTION resolve_events();

-- The previous version runs during a migration, perhaps with a role that receives its privileges for new tables after all migrations. The
-- triggers that write to such tables therefore run as their owner. Temporary tables of the caller come last.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['resolve_events', 'placement_target_changed', 'placement_target_deleted', 'placement_nodes_changed',
                              'placement_gpus_changed', 'placement_allocation_changed'] LOOP
    EXECUTE format('ALTER FUNCTION %I() SECURITY DEFINER SET search_path = pg_catalog, %I, pg_temp', name, current_schema());
  END LOOP;
END $$;
