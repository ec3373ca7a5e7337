-- The limits of a cluster that adds nodes when pods need them; null: it has the nodes that exist. Earlier versions ignore them.
ALTER TABLE "clusters" ADD COLUMN "elastic" JSONB;

-- Placement considers the limits, and compares the namespaces of registrations of one cluster.
CREATE TRIGGER placement_cluster_updated AFTER UPDATE ON "clusters" FOR EACH ROW
  WHEN ((OLD.namespace, OLD.elastic) IS DISTINCT FROM (NEW.namespace, NEW.elastic))
  EXECUTE FUNCTION placement_target_changed();

-- The allocated resources are a part of the target, and of all registrations of the same cluster.
CREATE OR REPLACE FUNCTION record_deployment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('changes'));
  INSERT INTO changes (kind, object_id) VALUES ('deployments', coalesce(NEW.id, OLD.id));
  IF (OLD.host_id, OLD.cluster_id, OLD.cpu_millis, OLD.memory_bytes, OLD.gpu_count)
    IS DISTINCT FROM (NEW.host_id, NEW.cluster_id, NEW.cpu_millis, NEW.memory_bytes, NEW.gpu_count) THEN
    INSERT INTO changes (kind, object_id)
      SELECT kind, id FROM (VALUES ('hosts', OLD.host_id), ('hosts', NEW.host_id), ('clusters', OLD.cluster_id), ('clusters', NEW.cluster_id)) target (kind, id)
      WHERE id IS NOT NULL
      UNION SELECT 'clusters', other.id FROM clusters c JOIN clusters other ON other.identity = c.identity
      WHERE c.id IN (OLD.cluster_id, NEW.cluster_id);
  END IF;
  RETURN NULL;
END $$;

-- Temporary tables of the caller come last for the function.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION record_deployment() SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
