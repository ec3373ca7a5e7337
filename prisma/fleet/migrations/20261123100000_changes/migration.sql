-- CreateTable
CREATE TABLE "changes" (
    "seq" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "object_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "changes_pkey" PRIMARY KEY ("seq")
);

-- The first position. The newest row is never deleted, so that there is always a position.
INSERT INTO "changes" ("kind", "object_id") VALUES ('start', '00000000-0000-0000-0000-000000000000');

-- Records changes of objects. The triggers are deferred, so that it runs as a part of COMMIT. The lock is held until the commit is
-- visible: the sequence numbers are in the order of commits, and a row never appears after a row with a higher number.
-- The first argument of a trigger is the kind of the objects, and the second one the column with their id.
CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('changes'));
  INSERT INTO changes (kind, object_id)
    SELECT DISTINCT TG_ARGV[0], id::uuid FROM unnest(ARRAY[to_jsonb(OLD)->>TG_ARGV[1], to_jsonb(NEW)->>TG_ARGV[1]]) id WHERE id IS NOT NULL;
  RETURN NULL;
END $$;

-- The reachability of a target is a part of its deployments and nodes.
CREATE FUNCTION record_reachability() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('changes'));
  INSERT INTO changes (kind, object_id)
    SELECT 'deployments', id FROM deployments WHERE host_id = NEW.id OR cluster_id = NEW.id
    UNION ALL SELECT 'hosts', id FROM nodes WHERE cluster_id = NEW.id;
  RETURN NULL;
END $$;
-- Temporary tables of the caller come last. By default, they would come first.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION record_change() SET search_path = pg_catalog, %I, pg_temp', current_schema());
  EXECUTE format('ALTER FUNCTION record_reachability() SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;

-- Each list of the API, with the columns whose changes are not recorded: what callers do not see, and times of observations.
DO $$
DECLARE
  list record;
BEGIN
  FOR list IN SELECT * FROM (VALUES
    ('deployments', 'deployments', '{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at}'),
    ('hosts', 'hosts', '{check_at,check_failures,last_seen_at,sealed,key_id}'),
    ('nodes', 'hosts', '{updated_at}'),
    ('clusters', 'clusters', '{check_at,check_failures,last_seen_at,sealed,key_id}'),
    ('workloads', 'workloads', '{}'),
    ('volumes', 'storage', '{sent_to_engine}'),
    ('secrets', 'secrets', '{sealed,key_id}'),
    ('users', 'users', '{last_sign_in_at,password_hash}'),
    ('tokens', 'tokens', '{last_used_at}')
  ) AS lists (table_name, kind, ignored) LOOP
    EXECUTE format('CREATE CONSTRAINT TRIGGER record_rows AFTER INSERT OR DELETE ON %I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION record_change(%L, ''id'')', list.table_name, list.kind);
    EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE ON %I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (to_jsonb(OLD) - %L::text[] IS DISTINCT FROM to_jsonb(NEW) - %2$L::text[])
      EXECUTE FUNCTION record_change(%3$L, ''id'')', list.table_name, list.ignored, list.kind);
  END LOOP;
END $$;

-- The allocated resources are a part of the target.
CREATE CONSTRAINT TRIGGER record_host AFTER INSERT OR DELETE ON "deployments" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION record_change('hosts', 'host_id');
CREATE CONSTRAINT TRIGGER record_cluster AFTER INSERT OR DELETE ON "deployments" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION record_change('clusters', 'cluster_id');
CREATE CONSTRAINT TRIGGER record_allocation_of_host AFTER UPDATE ON "deployments" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.host_id, OLD.cpu_millis, OLD.memory_bytes, OLD.gpu_count) IS DISTINCT FROM (NEW.host_id, NEW.cpu_millis, NEW.memory_bytes, NEW.gpu_count))
  EXECUTE FUNCTION record_change('hosts', 'host_id');
CREATE CONSTRAINT TRIGGER record_allocation_of_cluster AFTER UPDATE ON "deployments" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.cluster_id, OLD.cpu_millis, OLD.memory_bytes, OLD.gpu_count) IS DISTINCT FROM (NEW.cluster_id, NEW.cpu_millis, NEW.memory_bytes, NEW.gpu_count))
  EXECUTE FUNCTION record_change('clusters', 'cluster_id');
-- A volume shows the deployments that use it.
CREATE CONSTRAINT TRIGGER record_volume AFTER INSERT OR UPDATE OR DELETE ON "attachments" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION record_change('storage', 'volume_id');
CREATE CONSTRAINT TRIGGER record_reachability AFTER UPDATE ON "hosts" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.reachability, OLD.unreachable_reason) IS DISTINCT FROM (NEW.reachability, NEW.unreachable_reason))
  EXECUTE FUNCTION record_reachability();
CREATE CONSTRAINT TRIGGER record_reachability AFTER UPDATE ON "clusters" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.reachability, OLD.unreachable_reason) IS DISTINCT FROM (NEW.reachability, NEW.unreachable_reason))
  EXECUTE FUNCTION record_reachability();
