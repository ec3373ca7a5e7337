-- CreateEnum
CREATE TYPE "Engine" AS ENUM ('docker', 'podman');

-- CreateEnum
CREATE TYPE "Reachability" AS ENUM ('unknown', 'online', 'unreachable');

-- CreateEnum
CREATE TYPE "AuthKind" AS ENUM ('token', 'client_certificate');

-- CreateEnum
CREATE TYPE "SecretKind" AS ENUM ('opaque', 'registry', 'tls');

-- CreateEnum
CREATE TYPE "AccessMode" AS ENUM ('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany');

-- CreateEnum
CREATE TYPE "Reclaim" AS ENUM ('retain', 'delete');

-- CreateEnum
CREATE TYPE "VolumePhase" AS ENUM ('pending', 'bound', 'lost', 'deleting');

-- CreateEnum
CREATE TYPE "DesiredState" AS ENUM ('running', 'stopped');

-- CreateEnum
CREATE TYPE "EventKind" AS ENUM ('operation', 'event');

-- CreateTable
CREATE TABLE "hosts" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "engine" "Engine" NOT NULL,
    "endpoint" TEXT NOT NULL,
    "by_admin" BOOLEAN NOT NULL,
    "sealed" TEXT,
    "sealed_with" TEXT,
    "network_types" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "taints" JSONB NOT NULL DEFAULT '[]',
    "schedulable" BOOLEAN NOT NULL DEFAULT true,
    "gpus" JSONB NOT NULL DEFAULT '[]',
    "reachability" "Reachability" NOT NULL DEFAULT 'unknown',
    "last_seen_at" TIMESTAMPTZ(3),
    "engine_version" TEXT,
    "arch" TEXT,
    "cpu_millis" BIGINT,
    "memory_bytes" BIGINT,

    CONSTRAINT "hosts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "clusters" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "by_admin" BOOLEAN NOT NULL,
    "ca_certificate" TEXT,
    "auth_kind" "AuthKind" NOT NULL,
    "sealed" TEXT NOT NULL,
    "sealed_with" TEXT NOT NULL,
    "namespace" TEXT NOT NULL,
    "network_types" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "default_storage_class" TEXT,
    "gpu_resource_name" TEXT NOT NULL,
    "reachability" "Reachability" NOT NULL DEFAULT 'unknown',
    "last_seen_at" TIMESTAMPTZ(3),
    "kubernetes_version" TEXT,
    "capacity" JSONB,
    "cpu_millis" BIGINT,
    "memory_bytes" BIGINT,
    "gpu_count" INTEGER,
    "conditions" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "clusters_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workloads" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "workloads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workload_revisions" (
    "workload_id" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "spec" JSONB NOT NULL,
    "said" JSONB NOT NULL,
    "secret_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "template_id" UUID,
    "template_slug" TEXT,
    "template_version" TEXT,
    "template_hash" TEXT,
    "min_tier" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,

    CONSTRAINT "workload_revisions_pkey" PRIMARY KEY ("workload_id","revision")
);

-- CreateTable
CREATE TABLE "deployments" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "workload_id" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "host_id" UUID,
    "cluster_id" UUID,
    "replicas" INTEGER NOT NULL,
    "env" JSONB NOT NULL DEFAULT '{}',
    "desired_state" "DesiredState" NOT NULL DEFAULT 'running',
    "restarted_at" TIMESTAMPTZ(3),
    "cpu_millis" BIGINT NOT NULL DEFAULT 0,
    "memory_bytes" BIGINT NOT NULL DEFAULT 0,
    "gpu_count" INTEGER NOT NULL DEFAULT 0,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "observed_generation" INTEGER,
    "phase" TEXT NOT NULL DEFAULT 'pending',
    "reason" TEXT,
    "message" TEXT NOT NULL DEFAULT '',
    "conditions" JSONB NOT NULL DEFAULT '[]',
    "endpoints" JSONB NOT NULL DEFAULT '[]',
    "instances" JSONB NOT NULL DEFAULT '[]',
    "observed_at" TIMESTAMPTZ(3),

    CONSTRAINT "deployments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deployment_revisions" (
    "deployment_id" UUID NOT NULL,
    "generation" INTEGER NOT NULL,
    "operation" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "replicas" INTEGER NOT NULL,
    "env" JSONB NOT NULL,
    "desired_state" "DesiredState" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,

    CONSTRAINT "deployment_revisions_pkey" PRIMARY KEY ("deployment_id","generation")
);

-- CreateTable
CREATE TABLE "deployment_events" (
    "id" UUID NOT NULL,
    "deployment_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "kind" "EventKind" NOT NULL,
    "generation" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "actor" TEXT,

    CONSTRAINT "deployment_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "allocated_gpus" (
    "host_id" UUID NOT NULL,
    "gpu_id" TEXT NOT NULL,
    "deployment_id" UUID NOT NULL,
    "ordinal" INTEGER NOT NULL,

    CONSTRAINT "allocated_gpus_pkey" PRIMARY KEY ("host_id","gpu_id")
);

-- CreateTable
CREATE TABLE "volumes" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "size" TEXT NOT NULL,
    "access_mode" "AccessMode" NOT NULL,
    "storage_class" TEXT,
    "reclaim" "Reclaim" NOT NULL,
    "host_id" UUID,
    "cluster_id" UUID,
    "deployment_id" UUID,
    "phase" "VolumePhase" NOT NULL DEFAULT 'pending',

    CONSTRAINT "volumes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attachments" (
    "deployment_id" UUID NOT NULL,
    "mount" TEXT NOT NULL,
    "volume_id" UUID NOT NULL,

    CONSTRAINT "attachments_pkey" PRIMARY KEY ("deployment_id","mount")
);

-- CreateTable
CREATE TABLE "secrets" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "created_by" TEXT NOT NULL,
    "kind" "SecretKind" NOT NULL,
    "keys" TEXT[],
    "sealed" TEXT NOT NULL,
    "sealed_with" TEXT NOT NULL,
    "values_version" INTEGER NOT NULL DEFAULT 1,
    "last_rotated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "repeatable_requests" (
    "key_hash" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "deployment_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "repeatable_requests_pkey" PRIMARY KEY ("key_hash")
);

-- CreateTable
CREATE TABLE "template_uses" (
    "template_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),
    "told_at" TIMESTAMPTZ(3),

    CONSTRAINT "template_uses_pkey" PRIMARY KEY ("template_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "hosts_name_key" ON "hosts"("name");

-- CreateIndex
CREATE INDEX "hosts_created_at_id_idx" ON "hosts"("created_at" DESC, "id");

-- CreateIndex
CREATE UNIQUE INDEX "clusters_name_key" ON "clusters"("name");

-- CreateIndex
CREATE INDEX "clusters_created_at_id_idx" ON "clusters"("created_at" DESC, "id");

-- CreateIndex
CREATE UNIQUE INDEX "workloads_name_key" ON "workloads"("name");

-- CreateIndex
CREATE INDEX "workloads_created_at_id_idx" ON "workloads"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "workload_revisions_secret_names_idx" ON "workload_revisions" USING GIN ("secret_names");

-- CreateIndex
CREATE UNIQUE INDEX "deployments_name_key" ON "deployments"("name");

-- CreateIndex
CREATE INDEX "deployments_workload_id_revision_idx" ON "deployments"("workload_id", "revision");

-- CreateIndex
CREATE INDEX "deployments_host_id_idx" ON "deployments"("host_id");

-- CreateIndex
CREATE INDEX "deployments_cluster_id_idx" ON "deployments"("cluster_id");

-- CreateIndex
CREATE INDEX "deployments_created_at_id_idx" ON "deployments"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "deployment_events_deployment_id_at_id_idx" ON "deployment_events"("deployment_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "allocated_gpus_deployment_id_idx" ON "allocated_gpus"("deployment_id");

-- CreateIndex
CREATE UNIQUE INDEX "volumes_name_key" ON "volumes"("name");

-- CreateIndex
CREATE INDEX "volumes_deployment_id_idx" ON "volumes"("deployment_id");

-- CreateIndex
CREATE INDEX "volumes_host_id_idx" ON "volumes"("host_id");

-- CreateIndex
CREATE INDEX "volumes_cluster_id_idx" ON "volumes"("cluster_id");

-- CreateIndex
CREATE INDEX "volumes_created_at_id_idx" ON "volumes"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "attachments_volume_id_idx" ON "attachments"("volume_id");

-- CreateIndex
CREATE UNIQUE INDEX "secrets_name_key" ON "secrets"("name");

-- CreateIndex
CREATE INDEX "secrets_created_at_id_idx" ON "secrets"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "repeatable_requests_created_at_idx" ON "repeatable_requests"("created_at");

-- AddForeignKey
ALTER TABLE "workload_revisions" ADD CONSTRAINT "workload_revisions_workload_id_fkey" FOREIGN KEY ("workload_id") REFERENCES "workloads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_workload_id_fkey" FOREIGN KEY ("workload_id") REFERENCES "workloads"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_workload_id_revision_fkey" FOREIGN KEY ("workload_id", "revision") REFERENCES "workload_revisions"("workload_id", "revision") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_revisions" ADD CONSTRAINT "deployment_revisions_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_events" ADD CONSTRAINT "deployment_events_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocated_gpus" ADD CONSTRAINT "allocated_gpus_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocated_gpus" ADD CONSTRAINT "allocated_gpus_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_volume_id_fkey" FOREIGN KEY ("volume_id") REFERENCES "volumes"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- A deployment is on a cluster or on a host; only while nothing fits it is on neither.
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_target_check" CHECK (num_nonnulls("host_id", "cluster_id") <= 1);
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_target_check" CHECK (num_nonnulls("host_id", "cluster_id") <= 1);

-- Labels are searched by what they hold.
CREATE INDEX "hosts_labels_idx" ON "hosts" USING GIN ("labels");
CREATE INDEX "clusters_labels_idx" ON "clusters" USING GIN ("labels");
CREATE INDEX "workloads_labels_idx" ON "workloads" USING GIN ("labels");
CREATE INDEX "deployments_labels_idx" ON "deployments" USING GIN ("labels");
CREATE INDEX "volumes_labels_idx" ON "volumes" USING GIN ("labels");
CREATE INDEX "secrets_labels_idx" ON "secrets" USING GIN ("labels");

-- A revision is what it was: deployments of it count on that.
CREATE FUNCTION workload_revision_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a revision of a workload is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER workload_revision_refuse_change BEFORE UPDATE ON "workload_revisions"
  FOR EACH ROW EXECUTE FUNCTION workload_revision_refuse_change();
