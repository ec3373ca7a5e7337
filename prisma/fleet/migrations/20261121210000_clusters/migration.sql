-- AlterTable
ALTER TABLE "clusters" ADD COLUMN     "check_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
ADD COLUMN     "check_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "message" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "storage_classes" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "take_over" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "nodes" (
    "id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL,
    "taints" JSONB NOT NULL,
    "schedulable" BOOLEAN NOT NULL,
    "ready" BOOLEAN NOT NULL,
    "version" TEXT NOT NULL,
    "arch" TEXT NOT NULL,
    "cpu_millis" BIGINT NOT NULL,
    "memory_bytes" BIGINT NOT NULL,
    "gpu_count" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "nodes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "nodes_cluster_id_name_key" ON "nodes"("cluster_id", "name");

-- AddForeignKey
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What /hosts shows: the hosts, and the nodes of clusters, which belong to their clusters.
CREATE VIEW "machines" AS
SELECT "id", "name", "labels", "version", "created_at", "updated_at", "created_by", "engine"::text AS "engine", "endpoint",
  "sealed" IS NOT NULL AS "has_credentials", "network_types", "taints", "schedulable", "gpus",
  "reachability"::text AS "reachability", "message", "last_seen_at", "engine_version", "arch", "cpu_millis", "memory_bytes",
  NULL::uuid AS "cluster_id", jsonb_array_length("gpus") AS "gpu_count"
FROM "hosts"
UNION ALL
SELECT n."id", n."name", n."labels", 1, n."created_at", n."updated_at", c."name", 'kubernetes', NULL,
  false, c."network_types", n."taints", n."schedulable", '[]',
  CASE WHEN c."reachability" = 'online' AND NOT n."ready" THEN 'unreachable' ELSE c."reachability"::text END,
  CASE WHEN c."reachability" = 'online' AND NOT n."ready" THEN 'Its cluster says that it is not ready.' ELSE c."message" END,
  c."last_seen_at", n."version", n."arch", n."cpu_millis", n."memory_bytes", n."cluster_id", n."gpu_count"
FROM "nodes" n JOIN "clusters" c ON c."id" = n."cluster_id";
