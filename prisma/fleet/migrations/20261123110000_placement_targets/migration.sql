-- What is allocated on each host and cluster, and the transaction that last changed anything that a placement depends on.
-- No deployment must change between the count and the creation of the triggers.
LOCK TABLE "deployments", "hosts", "clusters" IN SHARE ROW EXCLUSIVE MODE;

-- CreateTable
CREATE TABLE "placement_targets" (
    "target_id" UUID NOT NULL,
    "cpu_millis" BIGINT NOT NULL DEFAULT 0,
    "memory_bytes" BIGINT NOT NULL DEFAULT 0,
    "gpu_count" INTEGER NOT NULL DEFAULT 0,
    "changed_in" BIGINT NOT NULL,

    CONSTRAINT "placement_targets_pkey" PRIMARY KEY ("target_id")
);

-- CreateIndex
CREATE INDEX "placement_targets_changed_in_idx" ON "placement_targets"("changed_in");

INSERT INTO "placement_targets" ("target_id", "cpu_millis", "memory_bytes", "gpu_count", "changed_in")
SELECT t."id", coalesce(d."cpu_millis", 0), coalesce(d."memory_bytes", 0), coalesce(d."gpu_count", 0),
  pg_current_xact_id()::text::bigint
FROM (SELECT "id" FROM "hosts" UNION ALL SELECT "id" FROM "clusters") t
LEFT JOIN (SELECT coalesce("host_id", "cluster_id") AS "id", sum("cpu_millis") AS "cpu_millis",
             sum("memory_bytes") AS "memory_bytes", sum("gpu_count") AS "gpu_count"
           FROM "deployments" GROUP BY 1) d USING ("id");

CREATE FUNCTION placement_target_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO placement_targets AS t (target_id, changed_in) VALUES (NEW.id, pg_current_xact_id()::text::bigint)
  ON CONFLICT (target_id) DO UPDATE SET changed_in = excluded.changed_in;
  RETURN NULL;
END $$;
CREATE FUNCTION placement_target_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM placement_targets WHERE target_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER placement_target_inserted AFTER INSERT ON "hosts" FOR EACH ROW EXECUTE FUNCTION placement_target_changed();
CREATE TRIGGER placement_target_updated AFTER UPDATE ON "hosts" FOR EACH ROW
  WHEN ((OLD.name, OLD.labels, OLD.arch, OLD.taints, OLD.schedulable, OLD.reachability, OLD.network_types, OLD.addresses, OLD.gpus,
         OLD.cpu_millis, OLD.memory_bytes, OLD.identity)
        IS DISTINCT FROM
        (NEW.name, NEW.labels, NEW.arch, NEW.taints, NEW.schedulable, NEW.reachability, NEW.network_types, NEW.addresses, NEW.gpus,
         NEW.cpu_millis, NEW.memory_bytes, NEW.identity))
  EXECUTE FUNCTION placement_target_changed();
CREATE TRIGGER placement_target_deleted AFTER DELETE ON "hosts" FOR EACH ROW EXECUTE FUNCTION placement_target_deleted();
CREATE TRIGGER placement_target_inserted AFTER INSERT ON "clusters" FOR EACH ROW EXECUTE FUNCTION placement_target_changed();
CREATE TRIGGER placement_target_updated AFTER UPDATE ON "clusters" FOR EACH ROW
  WHEN ((OLD.name, OLD.reachability, OLD.network_types, OLD.cpu_millis, OLD.memory_bytes, OLD.gpu_count, OLD.identity)
        IS DISTINCT FROM
        (NEW.name, NEW.reachability, NEW.network_types, NEW.cpu_millis, NEW.memory_bytes, NEW.gpu_count, NEW.identity))
  EXECUTE FUNCTION placement_target_changed();
CREATE TRIGGER placement_target_deleted AFTER DELETE ON "clusters" FOR EACH ROW EXECUTE FUNCTION placement_target_deleted();

CREATE FUNCTION placement_nodes_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE placement_targets SET changed_in = pg_current_xact_id()::text::bigint
  WHERE target_id IN (NEW.cluster_id, OLD.cluster_id);
  RETURN NULL;
END $$;
CREATE TRIGGER placement_nodes_changed AFTER INSERT OR UPDATE OR DELETE ON "nodes" FOR EACH ROW
  EXECUTE FUNCTION placement_nodes_changed();

CREATE FUNCTION placement_gpus_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE placement_targets SET changed_in = pg_current_xact_id()::text::bigint WHERE target_id IN (NEW.host_id, OLD.host_id);
  RETURN NULL;
END $$;
CREATE TRIGGER placement_gpus_changed AFTER INSERT OR UPDATE OR DELETE ON "allocated_gpus" FOR EACH ROW
  EXECUTE FUNCTION placement_gpus_changed();

-- Adds what a deployment allocates to its target, and subtracts what it allocated before.
CREATE FUNCTION placement_allocation_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.id IS NOT NULL THEN
    UPDATE placement_targets SET cpu_millis = cpu_millis - OLD.cpu_millis, memory_bytes = memory_bytes - OLD.memory_bytes,
      gpu_count = gpu_count - OLD.gpu_count, changed_in = pg_current_xact_id()::text::bigint
    WHERE target_id IN (OLD.host_id, OLD.cluster_id);
  END IF;
  IF NEW.id IS NOT NULL THEN
    UPDATE placement_targets SET cpu_millis = cpu_millis + NEW.cpu_millis, memory_bytes = memory_bytes + NEW.memory_bytes,
      gpu_count = gpu_count + NEW.gpu_count, changed_in = pg_current_xact_id()::text::bigint
    WHERE target_id IN (NEW.host_id, NEW.cluster_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER placement_allocation_inserted AFTER INSERT OR DELETE ON "deployments" FOR EACH ROW
  EXECUTE FUNCTION placement_allocation_changed();
CREATE TRIGGER placement_allocation_updated AFTER UPDATE ON "deployments" FOR EACH ROW
  WHEN ((OLD.host_id, OLD.cluster_id, OLD.cpu_millis, OLD.memory_bytes, OLD.gpu_count)
        IS DISTINCT FROM (NEW.host_id, NEW.cluster_id, NEW.cpu_millis, NEW.memory_bytes, NEW.gpu_count))
  EXECUTE FUNCTION placement_allocation_changed();
