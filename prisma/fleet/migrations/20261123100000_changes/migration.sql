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

-- These functions record changes of objects. Their triggers are deferred, so that they run as a part of COMMIT. The lock is held until
-- the commit is visible: the sequence numbers are in the order of commits, and a row never appears after a row with a higher number.

-- The argument of a trigger is the kind of the objects.
CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('changes'));
  INSERT INTO changes (kind, object_id) VALUES (TG_ARGV[0], coalesce(NEW.id, OLD.id));
  RETURN NULL;
END $$;

-- The allocated resources are a part of the target.
CREATE FUNCTION record_deployment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('changes'));
  INSERT INTO changes (kind, object_id) VALUES ('deployments', coalesce(NEW.id, OLD.id));
  IF (OLD.host_id, OLD.cluster_id, OLD.cpu_millis, OLD.memory_bytes, OLD.gpu_count)
    IS DISTINCT FROM (NEW.host_id, NEW.cluster_id, NEW.cpu_millis, NEW.memory_bytes, NEW.gpu_count) THEN
    INSERT INTO changes (kind, object_id)
      SELECT kind, id FROM (VALUES ('hosts', OLD.host_id), ('hosts', NEW.host_id), ('clusters', OLD.cluster_id), ('clusters', NEW.cluster_id)) target (kind, id)
      WHERE id IS NOT NULL GROUP BY kind, id;
  END IF;
  RETURN NULL;
END $$;

-- A volume shows the deployments that use it.
CREATE FUNCTION record_attachment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('changes'));
  INSERT INTO changes (kind, object_id)
    SELECT DISTINCT 'storage', id FROM (VALUES (OLD.volume_id), (NEW.volume_id)) volume (id) WHERE id IS NOT NULL;
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
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['record_change', 'record_deployment', 'record_attachment', 'record_reachability'] LOOP
    EXECUTE format('ALTER FUNCTION %I() SET search_path = pg_catalog, %I, pg_temp', name, current_schema());
  END LOOP;
END $$;

-- Each list of the API, with the columns whose changes are not recorded: what callers do not see, and times of observations. An UPDATE
-- that sets only these columns, such as that of a lease, costs nothing. A migration that adds a column creates `record_updates` again.
DO $$
DECLARE
  list record;
  columns text[];
BEGIN
  FOR list IN SELECT * FROM (VALUES
    ('deployments', 'record_deployment()', '{due_at,lease_owner,lease_until,failures,take_over,sent_to_engine,observed_at}'::text[]),
    ('hosts', 'record_change(''hosts'')', '{check_at,check_failures,last_seen_at,sealed,key_id}'),
    ('nodes', 'record_change(''hosts'')', '{updated_at}'),
    ('clusters', 'record_change(''clusters'')', '{check_at,check_failures,last_seen_at,sealed,key_id}'),
    ('workloads', 'record_change(''workloads'')', '{}'),
    ('volumes', 'record_change(''storage'')', '{sent_to_engine}'),
    ('secrets', 'record_change(''secrets'')', '{sealed,key_id}'),
    ('users', 'record_change(''users'')', '{last_sign_in_at,password_hash}'),
    ('tokens', 'record_change(''tokens'')', '{last_used_at}')
  ) AS lists (name, function, ignored) LOOP
    columns := ARRAY(
      SELECT quote_ident(attname) FROM pg_attribute
      WHERE attrelid = format('%I', list.name)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL (list.ignored)
      ORDER BY attnum);
    EXECUTE format('CREATE CONSTRAINT TRIGGER record_rows AFTER INSERT OR DELETE ON %I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION %s', list.name, list.function);
    EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON %I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION %s', array_to_string(columns, ', '), list.name,
      array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'), list.function);
  END LOOP;
END $$;

CREATE CONSTRAINT TRIGGER record_volume AFTER INSERT OR UPDATE OR DELETE ON "attachments" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION record_attachment();
CREATE CONSTRAINT TRIGGER record_reachability AFTER UPDATE OF "reachability", "unreachable_reason" ON "hosts" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN ((OLD.reachability, OLD.unreachable_reason) IS DISTINCT FROM (NEW.reachability, NEW.unreachable_reason))
  EXECUTE FUNCTION record_reachability();
CREATE CONSTRAINT TRIGGER record_reachability AFTER UPDATE OF "reachability", "unreachable_reason" ON "clusters" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN ((OLD.reachability, OLD.unreachable_reason) IS DISTINCT FROM (NEW.reachability, NEW.unreachable_reason))
  EXECUTE FUNCTION record_reachability();
