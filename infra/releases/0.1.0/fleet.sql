-- The database of the fleet 0.1.0, recorded by infra/local/release/record.mjs.
-- Trusted extension: the owner of a database may create it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- CreateEnum
CREATE TYPE "Role" AS ENUM ('admin', 'operator', 'viewer');

-- CreateEnum
CREATE TYPE "UserSource" AS ENUM ('local', 'oidc');

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
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "source" "UserSource" NOT NULL,
    "email" TEXT,
    "name" TEXT NOT NULL DEFAULT '',
    "role" "Role",
    "password_hash" TEXT,
    "iss" TEXT,
    "sub" TEXT,
    "claims" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "last_sign_in_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tokens" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "token_hash" TEXT NOT NULL,
    "token_prefix" TEXT NOT NULL,
    "expires_in_days" INTEGER,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_by_user" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "token_id" UUID,
    "user_id" UUID,
    "actor" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "aborted" BOOLEAN NOT NULL DEFAULT false,
    "request_id" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "user_id" UUID,
    "fingerprint" TEXT,
    "provider_token" TEXT,
    "key_id" TEXT,
    "provider_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_transactions" (
    "state_hash" TEXT NOT NULL,
    "browser_hash" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "return_to" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_transactions_pkey" PRIMARY KEY ("state_hash")
);

-- CreateTable
CREATE TABLE "sign_in_codes" (
    "code_hash" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_codes_pkey" PRIMARY KEY ("code_hash")
);

-- CreateTable
CREATE TABLE "settings" (
    "name" TEXT NOT NULL,
    "values" JSONB NOT NULL DEFAULT '{}',
    "sealed" TEXT,
    "key_id" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "settings_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "refresh_tokens" (
    "token_hash" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "parent_hash" TEXT,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "refresh_tokens_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "sign_in_failures" (
    "subject" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,
    "blocked_until" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_failures_pkey" PRIMARY KEY ("subject")
);

-- CreateTable
CREATE TABLE "signing_keys" (
    "kid" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "private_jwk" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "encryption_canary" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,

    CONSTRAINT "encryption_canary_pkey" PRIMARY KEY ("id")
);

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
    "key_id" TEXT,
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
    "check_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "check_failures" INTEGER NOT NULL DEFAULT 0,
    "unreachable_reason" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "hosts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tombstones" (
    "id" UUID NOT NULL,
    "host_id" UUID,
    "cluster_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("id")
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
    "key_id" TEXT NOT NULL,
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
    "storage_classes" JSONB NOT NULL DEFAULT '[]',
    "check_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "check_failures" INTEGER NOT NULL DEFAULT 0,
    "unreachable_reason" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "clusters_pkey" PRIMARY KEY ("id")
);

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
    "overrides" JSONB NOT NULL,
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
    "sent_to_engine" BOOLEAN NOT NULL DEFAULT false,
    "deleting" BOOLEAN NOT NULL DEFAULT false,
    "take_over" BOOLEAN NOT NULL DEFAULT false,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),

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
CREATE TABLE "allocated_ports" (
    "host_id" UUID NOT NULL,
    "protocol" TEXT NOT NULL,
    "host_port" INTEGER NOT NULL,
    "deployment_id" UUID NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "container_port" INTEGER NOT NULL,

    CONSTRAINT "allocated_ports_pkey" PRIMARY KEY ("host_id","protocol","host_port")
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
    "sent_to_engine" BOOLEAN NOT NULL DEFAULT false,

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
    "key_id" TEXT NOT NULL,
    "values_version" INTEGER NOT NULL DEFAULT 1,
    "last_rotated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "key_hash" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "deployment_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("key_hash")
);

-- CreateTable
CREATE TABLE "download_reports" (
    "template_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),
    "reported_at" TIMESTAMPTZ(3),

    CONSTRAINT "download_reports_pkey" PRIMARY KEY ("template_id")
);

-- CreateTable
CREATE TABLE "catalog_templates" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "category_id" UUID NOT NULL,
    "category_slug" TEXT NOT NULL,
    "is_featured" BOOLEAN NOT NULL,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "search_text" TEXT NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "document" JSONB NOT NULL,

    CONSTRAINT "catalog_templates_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "catalog_categories" (
    "id" UUID NOT NULL,
    "sort_order" INTEGER NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "document" JSONB NOT NULL,

    CONSTRAINT "catalog_categories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "catalog_sync" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "source" TEXT,
    "cursor" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "generation" INTEGER NOT NULL DEFAULT 0,
    "in_full_walk" BOOLEAN NOT NULL DEFAULT false,
    "found_empty" BOOLEAN NOT NULL DEFAULT false,
    "organization" JSONB,
    "last_success_at" TIMESTAMPTZ(3),
    "last_full" BOOLEAN NOT NULL DEFAULT false,
    "last_updated" INTEGER NOT NULL DEFAULT 0,
    "last_removed" INTEGER NOT NULL DEFAULT 0,
    "stale_since" TIMESTAMPTZ(3),
    "last_failure_at" TIMESTAMPTZ(3),
    "failure_kind" TEXT,
    "failure_reason" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3),
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "catalog_sync_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at" DESC, "id");

-- CreateIndex
CREATE UNIQUE INDEX "users_iss_sub_key" ON "users"("iss", "sub");

-- CreateIndex
CREATE UNIQUE INDEX "tokens_token_hash_key" ON "tokens"("token_hash");

-- CreateIndex
CREATE INDEX "tokens_created_by_user_idx" ON "tokens"("created_by_user");

-- CreateIndex
CREATE INDEX "tokens_created_at_id_idx" ON "tokens"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "audit_entries_at_id_idx" ON "audit_entries"("at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_token_id_at_idx" ON "audit_entries"("token_id", "at" DESC);

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- CreateIndex
CREATE INDEX "sessions_provider_at_idx" ON "sessions"("provider_at");

-- CreateIndex
CREATE INDEX "sign_in_transactions_expires_at_idx" ON "sign_in_transactions"("expires_at");

-- CreateIndex
CREATE INDEX "sign_in_codes_session_id_idx" ON "sign_in_codes"("session_id");

-- CreateIndex
CREATE INDEX "sign_in_codes_expires_at_idx" ON "sign_in_codes"("expires_at");

-- CreateIndex
CREATE INDEX "refresh_tokens_session_id_idx" ON "refresh_tokens"("session_id");

-- CreateIndex
CREATE INDEX "refresh_tokens_parent_hash_idx" ON "refresh_tokens"("parent_hash");

-- CreateIndex
CREATE UNIQUE INDEX "hosts_name_key" ON "hosts"("name");

-- CreateIndex
CREATE INDEX "hosts_created_at_id_idx" ON "hosts"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "hosts_labels_idx" ON "hosts" USING GIN ("labels");

-- CreateIndex
CREATE INDEX "tombstones_host_id_idx" ON "tombstones"("host_id");

-- CreateIndex
CREATE INDEX "tombstones_cluster_id_idx" ON "tombstones"("cluster_id");

-- CreateIndex
CREATE INDEX "tombstones_at_idx" ON "tombstones"("at");

-- CreateIndex
CREATE UNIQUE INDEX "clusters_name_key" ON "clusters"("name");

-- CreateIndex
CREATE INDEX "clusters_created_at_id_idx" ON "clusters"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "clusters_labels_idx" ON "clusters" USING GIN ("labels");

-- CreateIndex
CREATE UNIQUE INDEX "nodes_cluster_id_name_key" ON "nodes"("cluster_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "workloads_name_key" ON "workloads"("name");

-- CreateIndex
CREATE INDEX "workloads_created_at_id_idx" ON "workloads"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "workloads_labels_idx" ON "workloads" USING GIN ("labels");

-- CreateIndex
CREATE INDEX "workload_revisions_secret_names_idx" ON "workload_revisions" USING GIN ("secret_names");

-- CreateIndex
CREATE UNIQUE INDEX "deployments_name_key" ON "deployments"("name");

-- CreateIndex
CREATE INDEX "deployments_due_at_idx" ON "deployments"("due_at");

-- CreateIndex
CREATE INDEX "deployments_workload_id_revision_idx" ON "deployments"("workload_id", "revision");

-- CreateIndex
CREATE INDEX "deployments_host_id_idx" ON "deployments"("host_id");

-- CreateIndex
CREATE INDEX "deployments_cluster_id_idx" ON "deployments"("cluster_id");

-- CreateIndex
CREATE INDEX "deployments_created_at_id_idx" ON "deployments"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "deployments_labels_idx" ON "deployments" USING GIN ("labels");

-- CreateIndex
CREATE INDEX "deployment_events_deployment_id_at_id_idx" ON "deployment_events"("deployment_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "allocated_gpus_deployment_id_idx" ON "allocated_gpus"("deployment_id");

-- CreateIndex
CREATE INDEX "allocated_ports_deployment_id_idx" ON "allocated_ports"("deployment_id");

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
CREATE INDEX "volumes_labels_idx" ON "volumes" USING GIN ("labels");

-- CreateIndex
CREATE INDEX "attachments_volume_id_idx" ON "attachments"("volume_id");

-- CreateIndex
CREATE UNIQUE INDEX "secrets_name_key" ON "secrets"("name");

-- CreateIndex
CREATE INDEX "secrets_created_at_id_idx" ON "secrets"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "secrets_labels_idx" ON "secrets" USING GIN ("labels");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "catalog_templates_slug_idx" ON "catalog_templates"("slug");

-- CreateIndex
CREATE INDEX "catalog_templates_sort_name_id_idx" ON "catalog_templates"("sort_name", "id");

-- CreateIndex
CREATE INDEX "catalog_templates_category_id_idx" ON "catalog_templates"("category_id");

-- CreateIndex
CREATE INDEX "catalog_templates_category_slug_idx" ON "catalog_templates"("category_slug");

-- CreateIndex
CREATE INDEX "catalog_templates_generation_idx" ON "catalog_templates"("generation");

-- CreateIndex
CREATE INDEX "catalog_templates_tags_idx" ON "catalog_templates" USING GIN ("tags");

-- CreateIndex
-- Without fastupdate there is no pending list. After a full walk, a search would scan that list or the whole table.
CREATE INDEX "catalog_templates_search_text_idx" ON "catalog_templates" USING GIN ("search_text" gin_trgm_ops) WITH (fastupdate = off);

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_codes" ADD CONSTRAINT "sign_in_codes_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tombstones" ADD CONSTRAINT "tombstones_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tombstones" ADD CONSTRAINT "tombstones_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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
ALTER TABLE "allocated_ports" ADD CONSTRAINT "allocated_ports_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocated_ports" ADD CONSTRAINT "allocated_ports_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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

-- Tables with exactly one row.
ALTER TABLE "encryption_canary" ADD CONSTRAINT "encryption_canary_one_row" CHECK ("id" = 1);
ALTER TABLE "catalog_sync" ADD CONSTRAINT "catalog_sync_one_row" CHECK ("id" = 1);
INSERT INTO "catalog_sync" ("id") VALUES (1);

-- At most one signing key is active.
CREATE UNIQUE INDEX "signing_keys_one_active" ON "signing_keys" ((true)) WHERE "retired_at" IS NULL;

-- A local user has an e-mail, a role and a password. A user of an identity provider is identified by (iss, sub).
ALTER TABLE "users" ADD CONSTRAINT "users_source_check" CHECK (
  CASE source
    WHEN 'local' THEN email IS NOT NULL AND role IS NOT NULL AND password_hash IS NOT NULL AND iss IS NULL AND removed_at IS NULL
    ELSE iss IS NOT NULL AND sub IS NOT NULL AND claims IS NOT NULL AND role IS NULL AND password_hash IS NULL
  END);

-- A session belongs either to a user or to the temporary admin.
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_owner_check" CHECK (("user_id" IS NULL) = ("fingerprint" IS NOT NULL));

-- Entries of the audit log are immutable. Only audit_forget deletes old ones, and it records the deletion as an entry.
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('fleet.audit_retention', true) = pg_current_xact_id()::text THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'audit entries cannot be changed or deleted' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_refuse_change BEFORE UPDATE OR DELETE ON "audit_entries"
  FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_refuse_truncate BEFORE TRUNCATE ON "audit_entries"
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE FUNCTION audit_forget(before timestamptz, entry uuid) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
  deleted integer;
BEGIN
  PERFORM set_config('fleet.audit_retention', pg_current_xact_id()::text, true);
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE at < before ORDER BY at LIMIT 10000);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('fleet.audit_retention', '', true);
  IF deleted > 0 THEN
    INSERT INTO audit_entries (id, actor, method, path, status, request_id)
      VALUES (entry, 'retention', 'DELETE', 'entries before ' || to_char(before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || deleted, 200, '');
  END IF;
  RETURN deleted;
END $$;
-- Other roles that can connect to this database must not delete entries.
REVOKE ALL ON FUNCTION audit_forget(timestamptz, uuid) FROM PUBLIC;

-- A deployment or volume is on at most one target.
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_target_check" CHECK (num_nonnulls("host_id", "cluster_id") <= 1);
ALTER TABLE "volumes" ADD CONSTRAINT "volumes_target_check" CHECK (num_nonnulls("host_id", "cluster_id") <= 1);

-- Deployments rely on revisions of workloads that do not change.
CREATE FUNCTION workload_revision_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'revisions of workloads cannot be changed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER workload_revision_refuse_change BEFORE UPDATE ON "workload_revisions"
  FOR EACH ROW EXECUTE FUNCTION workload_revision_refuse_change();

-- The list of /hosts: the hosts, and the nodes of clusters.
CREATE VIEW "hosts_and_nodes" AS
SELECT "id", "name", "labels", "version", "created_at", "updated_at", "created_by", "engine"::text AS "engine", "endpoint",
  "sealed" IS NOT NULL AS "has_credentials", "network_types", "taints", "schedulable", "gpus",
  "reachability"::text AS "reachability", "unreachable_reason", "last_seen_at", "engine_version", "arch", "cpu_millis", "memory_bytes",
  NULL::uuid AS "cluster_id", jsonb_array_length("gpus") AS "gpu_count"
FROM "hosts"
UNION ALL
SELECT n."id", n."name", n."labels", 1, n."created_at", n."updated_at", c."name", 'kubernetes', NULL,
  false, c."network_types", n."taints", n."schedulable", '[]',
  CASE WHEN c."reachability" = 'online' AND NOT n."ready" THEN 'unreachable' ELSE c."reachability"::text END,
  CASE WHEN c."reachability" = 'online' AND NOT n."ready" THEN 'The cluster reports that the node is not ready.' ELSE c."unreachable_reason" END,
  c."last_seen_at", n."version", n."arch", n."cpu_millis", n."memory_bytes", n."cluster_id", n."gpu_count"
FROM "nodes" n JOIN "clusters" c ON c."id" = n."cluster_id";

CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);
DELETE FROM "_prisma_migrations";
INSERT INTO "_prisma_migrations" SELECT * FROM json_populate_recordset(null::"_prisma_migrations", '[{"id":"abc4631f-43bb-4162-b9d1-9fef14912222","checksum":"2d439c584581c3ad2f8d5494f569d6239c33e52fcb29d812025fae67a1dd373f","finished_at":"2026-11-22T17:44:12.613+00:00","migration_name":"00000000000000_initial","logs":null,"rolled_back_at":null,"started_at":"2026-11-22T17:44:12.438+00:00","applied_steps_count":1}]');
DELETE FROM "allocated_ports";
INSERT INTO "allocated_ports" SELECT * FROM json_populate_recordset(null::"allocated_ports", '[{"host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","protocol":"TCP","host_port":20568,"deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","ordinal":0,"container_port":8080},
{"host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","protocol":"TCP","host_port":20569,"deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","ordinal":0,"container_port":8080},
{"host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","protocol":"TCP","host_port":20570,"deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","ordinal":1,"container_port":8080}]');
DELETE FROM "attachments";
INSERT INTO "attachments" SELECT * FROM json_populate_recordset(null::"attachments", '[{"deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","mount":"data","volume_id":"01a2045b-dbf7-7424-9a35-7e3751491003"},
{"deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","mount":"data","volume_id":"01a2045b-f03f-745f-a143-810d69b7cb16"}]');
DELETE FROM "audit_entries";
INSERT INTO "audit_entries" SELECT * FROM json_populate_recordset(null::"audit_entries", '[{"id":"01a2045b-ced8-7254-af3d-5327373ecfa0","at":"2026-11-22T17:44:15.357+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"8e2f8a9f-5428-4f21-a7c0-1eed60b4a871"},
{"id":"01a2045b-cf09-7620-82d2-4445b656d3eb","at":"2026-11-22T17:44:15.399+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/hosts","status":201,"aborted":false,"request_id":"e5987c00-cf49-4147-8b2b-ff5bea6d4e59"},
{"id":"01a2045b-d5d0-7194-bd9d-150dab4d7175","at":"2026-11-22T17:44:17.124+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"PUT","path":"/api/v1/settings/hub","status":200,"aborted":false,"request_id":"d11942ce-9875-4b49-8981-43fa9a47f4ed"},
{"id":"01a2045b-d5eb-75c7-bf31-b0bad361a05a","at":"2026-11-22T17:44:17.205+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"c579ffa1-a017-4d14-8844-0d05673f575d"},
{"id":"01a2045b-d646-754e-bad0-58183340623e","at":"2026-11-22T17:44:17.262+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"3c717689-cb52-4728-bfff-e4de4754736f"},
{"id":"01a2045b-d690-7306-938d-d1fe28a2aaf7","at":"2026-11-22T17:44:17.35+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"6e53d1cc-c483-4203-ba1e-e1b33926f7d6"},
{"id":"01a2045b-d6dc-7174-819b-9303d35d7488","at":"2026-11-22T17:44:17.416+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"f6e93010-5d68-4c55-b86d-81a0b2464078"},
{"id":"01a2045b-d70d-724b-9fa4-56ebfdc6e0c1","at":"2026-11-22T17:44:17.451+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"4da30a95-3a9b-4a34-839e-edfdb47aadbf"},
{"id":"01a2045b-d74f-73e2-a572-84ff61379f50","at":"2026-11-22T17:44:17.553+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"0f4761c5-6778-4b23-94e3-a4f2d3eeb2c7"},
{"id":"01a2045b-d794-75a5-aa1f-9c05f38ae11e","at":"2026-11-22T17:44:17.563+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/hosts","status":200,"aborted":false,"request_id":"26c15031-2c8d-4149-92d2-8fb98fa89d01"},
{"id":"01a2045b-d79e-7421-98a2-c7cbe61f7e81","at":"2026-11-22T17:44:17.581+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/secrets","status":201,"aborted":false,"request_id":"6ad45f6b-81b8-448a-9dfa-55c14c644732"},
{"id":"01a2045b-d7b0-7167-9671-6e5828477e16","at":"2026-11-22T17:44:17.59+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/hosts","status":201,"aborted":false,"request_id":"de33181b-dcc2-48fc-81e2-1d76dfe0ff7f"},
{"id":"01a2045b-d7b9-75df-95a4-08e83d7c6198","at":"2026-11-22T17:44:17.603+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/hosts","status":201,"aborted":false,"request_id":"2c21bcd2-b447-4c2b-8c62-98013836f8e6"},
{"id":"01a2045b-d7c9-7265-9b59-d70bcf591feb","at":"2026-11-22T17:44:17.639+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/clusters","status":201,"aborted":false,"request_id":"c0ca1d78-0b3d-43b3-a2d8-812471fada61"},
{"id":"01a2045b-d7ec-7055-87b2-d5280d943ced","at":"2026-11-22T17:44:17.654+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/hosts/01a2045b-d7b2-7568-9540-357e8423dde8","status":200,"aborted":false,"request_id":"d56ab9c3-d147-424c-9bf5-2bcc6208138b"},
{"id":"01a2045b-dbe3-735f-9c17-41734fb277e5","at":"2026-11-22T17:44:18.666+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/hosts/01a2045b-d7b2-7568-9540-357e8423dde8","status":200,"aborted":false,"request_id":"3740e404-e740-46b1-8390-b005975d012c"},
{"id":"01a2045b-dbec-7508-af7a-62ae104d7ba4","at":"2026-11-22T17:44:18.76+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments","status":201,"aborted":false,"request_id":"200a7df7-78c5-41f8-8f98-70bed287a65c"},
{"id":"01a2045b-dc55-74d2-adda-b1bd574ab450","at":"2026-11-22T17:44:18.778+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"8d2da191-2f79-453a-9353-30af291bcf30"},
{"id":"01a2045b-e048-745b-8589-2ada94d4bc0d","at":"2026-11-22T17:44:19.796+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"c83364ef-265f-449f-93fe-5db317de0604"},
{"id":"01a2045b-e441-7462-b197-74e8c69f64da","at":"2026-11-22T17:44:20.807+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"ca4d1359-106d-4ef0-a48b-42acec3ec27e"},
{"id":"01a2045b-e835-74a7-b850-391350d5fb5f","at":"2026-11-22T17:44:21.825+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"b3d63d75-63bd-4d52-abf5-95db8cf18e92"},
{"id":"01a2045b-ec30-7192-9b33-342ba81899de","at":"2026-11-22T17:44:22.839+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"742dcfaa-0781-476f-94eb-44928f350ade"},
{"id":"01a2045b-f025-70a3-b161-9b5cd32bc53c","at":"2026-11-22T17:44:23.856+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"5ece8936-24f0-4302-b434-125224c17aab"},
{"id":"01a2045b-f036-7091-a51a-3987480e3bed","at":"2026-11-22T17:44:23.91+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments","status":201,"aborted":false,"request_id":"55341060-c2f2-4562-809e-bcd98849664e"},
{"id":"01a2045b-f06a-760f-8d35-be8af3f49113","at":"2026-11-22T17:44:23.919+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"e1df6665-6ed9-4eee-bb42-ec81bbe672b4"},
{"id":"01a2045b-f45c-701e-82d4-813221f5d530","at":"2026-11-22T17:44:24.931+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"0d915499-46f3-41b6-b025-8405dbfd87eb"},
{"id":"01a2045b-f851-77ba-97e8-d0e4de527f40","at":"2026-11-22T17:44:25.944+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"230fef01-e7c8-4dc0-be9e-71d357991e8d"},
{"id":"01a2045b-fc46-7475-87db-b74cd95531dc","at":"2026-11-22T17:44:26.957+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"4275e354-384a-435f-bddc-5833da4650be"},
{"id":"01a2045c-003a-706b-9e5b-9124a6d236eb","at":"2026-11-22T17:44:27.969+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"5414b876-f594-4fa4-80ce-389b30afe069"},
{"id":"01a2045c-042c-77d5-b68b-088387eb656e","at":"2026-11-22T17:44:28.979+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"b88864b5-23e4-43af-8095-7bf939bb0f9c"},
{"id":"01a2045c-0824-77a0-9a57-be482bf6613f","at":"2026-11-22T17:44:29.997+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"1ef6b35e-ce52-4a01-be5e-9b4247211981"},
{"id":"01a2045c-0832-76d2-a9d5-4979c1fdd5d3","at":"2026-11-22T17:44:30.03+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9/stop","status":200,"aborted":false,"request_id":"0e5ff02a-d8bc-4d78-a727-2e8627afefc0"},
{"id":"01a2045c-0852-76d8-9a8e-cd9c94bf0eff","at":"2026-11-22T17:44:30.04+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"677bd544-6ad3-42a1-a7e8-6a6387347757"},
{"id":"01a2045c-0c44-76e2-9073-4ada982f337d","at":"2026-11-22T17:44:31.051+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"1faa2bb6-9909-4522-9a40-656d00adbcdc"},
{"id":"01a2045c-1039-779b-8ca8-7ca250fa93a6","at":"2026-11-22T17:44:32.065+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"a472ac5a-5b78-4a16-a22e-45d8d6412775"},
{"id":"01a2045c-142e-723b-b7e1-1e7ba7b208cf","at":"2026-11-22T17:44:33.076+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"79984b87-1f3a-42ac-aa25-de11fe9ebc2e"},
{"id":"01a2045c-1821-772f-b581-51183400b34f","at":"2026-11-22T17:44:34.088+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"78bb24ac-867a-492f-9517-a99d9214011d"},
{"id":"01a2045c-1c17-713e-b8fd-5b8955ffb671","at":"2026-11-22T17:44:35.101+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"951be6ef-7f68-4f29-8905-0adfb2c2c5eb"},
{"id":"01a2045c-200b-7257-b416-83a1ad0f38ec","at":"2026-11-22T17:44:36.115+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"c4c6c232-03e8-4354-9cee-ff4c332bbc16"},
{"id":"01a2045c-2401-7472-9d9b-14e6b6c67250","at":"2026-11-22T17:44:37.128+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"88710454-a4b1-403f-a121-2666fd948bb8"},
{"id":"01a2045c-27f4-7091-b33d-202ed1f20787","at":"2026-11-22T17:44:38.139+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"38207998-a4aa-4b62-ab97-2a3fc58b754e"},
{"id":"01a2045c-2be8-709d-be81-a7eed578eca7","at":"2026-11-22T17:44:39.151+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"80c42348-a38a-4b25-a70d-09028e65e089"},
{"id":"01a2045c-2fdc-705a-b8a5-1725145963a9","at":"2026-11-22T17:44:40.164+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"1798589e-fb2c-42df-9ddd-19fb60bb0287"},
{"id":"01a2045c-33d3-7464-bef3-41f4e383d657","at":"2026-11-22T17:44:41.181+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"c12c4648-b035-4acd-9dad-7a37e4642826"},
{"id":"01a2045c-37cf-76c0-a931-d8669d175126","at":"2026-11-22T17:44:42.201+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"de14506b-f919-4ec3-9b24-150cc1ef42f5"},
{"id":"01a2045c-3bc6-77c7-b134-8d63d6fe74c5","at":"2026-11-22T17:44:43.215+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"6dc1dafe-503c-45bd-9226-5858885a6171"},
{"id":"01a2045c-3fbd-75ce-962e-ccfc9fc07877","at":"2026-11-22T17:44:44.23+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"f84b04ad-c2e1-4b7f-b76c-de2013a4c830"},
{"id":"01a2045c-43b3-70c2-a809-0f2376f68780","at":"2026-11-22T17:44:45.241+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"eba482cd-cfbb-43d3-a7c9-0b77b300a277"},
{"id":"01a2045c-47a7-7570-8944-561aaed20c60","at":"2026-11-22T17:44:46.254+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"ac816675-ea52-4532-9864-391ad55a4cab"},
{"id":"01a2045c-4b9d-761c-996b-a3e26ac47836","at":"2026-11-22T17:44:47.267+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"94a23bd9-bd3a-440b-af3f-8f6eb1a14506"},
{"id":"01a2045c-4f91-77b1-8ecd-e5ffd30d3db5","at":"2026-11-22T17:44:48.28+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"cc8d5113-b8a2-476c-84ed-732b11a998e6"},
{"id":"01a2045c-5386-7215-afe4-557d3fc81792","at":"2026-11-22T17:44:49.293+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"2838373a-1195-4845-bb06-7c89b71b5c2a"},
{"id":"01a2045c-577c-75cf-a9bd-0c175cca4f56","at":"2026-11-22T17:44:50.307+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"19295453-f44e-420f-9db5-fbb666588cd8"},
{"id":"01a2045c-5b71-7188-afe1-7e9475ddb662","at":"2026-11-22T17:44:51.318+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"e781e0bd-cbd3-405d-9743-f798216eb8a7"},
{"id":"01a2045c-5f62-75e8-9482-2c0e444d8c2e","at":"2026-11-22T17:44:52.328+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"e635dc29-7907-4b93-b8ae-4a359208de9b"},
{"id":"01a2045c-6354-76a5-9229-5b1c069366f2","at":"2026-11-22T17:44:53.337+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"8442cdba-af13-4e59-9546-8a2e3c7118c1"},
{"id":"01a2045c-6748-70c9-b978-5e86305c8767","at":"2026-11-22T17:44:54.351+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"3ec39d90-bf04-4c66-bbfc-93f5f61a7a0a"},
{"id":"01a2045c-6b3d-73c1-af80-0ceb95395e88","at":"2026-11-22T17:44:55.365+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"c0be9a9d-c5d1-4df2-9721-7c13480c95f0"},
{"id":"01a2045c-6f32-770c-a73e-dcb0ec492ce6","at":"2026-11-22T17:44:56.375+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"3806c91b-6f98-477e-b867-56d181d929a8"},
{"id":"01a2045c-7323-7087-86cf-74a4bfbf8f38","at":"2026-11-22T17:44:57.387+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"01f90091-93ac-4700-aa36-b957d90e01f0"},
{"id":"01a2045c-7719-777a-9cdb-665bbe2a2840","at":"2026-11-22T17:44:58.401+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"f95db1a5-1e25-454d-8b3e-c5781e3113ef"},
{"id":"01a2045c-7b10-77e7-85f4-838e46a91aa9","at":"2026-11-22T17:44:59.416+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"8c482604-8401-4e2e-a073-54ce651cb904"},
{"id":"01a2045c-7f04-7400-8281-3b8c77ff61c8","at":"2026-11-22T17:45:00.426+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"8fa23c68-1e36-4e1e-876b-e82d4a80c8ab"},
{"id":"01a2045c-82f7-70ab-b303-099736dd2554","at":"2026-11-22T17:45:01.437+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","status":200,"aborted":false,"request_id":"f70acb09-7b67-4d27-a29e-acbd7405c139"},
{"id":"01a2045c-8305-7273-b4a6-2435f59ca1c6","at":"2026-11-22T17:45:01.488+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3/restart","status":200,"aborted":false,"request_id":"5ccb1abd-e96e-481a-baa9-8886407c8143"},
{"id":"01a2045c-8334-75e1-8f84-6a58dae3b7ed","at":"2026-11-22T17:45:01.497+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"b814c2a2-bca3-4f3b-9da7-d2ef5c816be0"},
{"id":"01a2045c-8728-7778-8cdc-cb218ba6301e","at":"2026-11-22T17:45:02.513+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"370e1847-d2e8-429e-82b1-d8aec664e7aa"},
{"id":"01a2045c-8b1e-76b5-a6aa-fba8c7e3ef61","at":"2026-11-22T17:45:03.526+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"f5da344c-2b4e-45cb-858c-9bcc88d4f605"},
{"id":"01a2045c-8f19-766a-ad83-8155cc86ed8d","at":"2026-11-22T17:45:04.543+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"0f766e3c-89d6-4b67-8cdc-09dbe811b9c6"},
{"id":"01a2045c-930f-736b-ba1b-48bfe917c4de","at":"2026-11-22T17:45:05.558+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"e4c187a8-5f56-4edc-8032-58f87e190cf0"},
{"id":"01a2045c-9702-712c-8b55-a5811a780f2f","at":"2026-11-22T17:45:06.569+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"e1005a4c-7cb4-4941-99db-422b6fcbd7d3"},
{"id":"01a2045c-9af7-70f8-8be6-4a58c16ab655","at":"2026-11-22T17:45:07.58+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"2aaa65a4-d41c-4e10-a593-4a1b7c19d0c4"},
{"id":"01a2045c-9eea-72c7-afe1-5c4c7283a827","at":"2026-11-22T17:45:08.592+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"bfc4f68b-a021-4824-b095-3457e09084e7"},
{"id":"01a2045c-a2dd-71ed-88d4-28417817a34c","at":"2026-11-22T17:45:09.604+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"19f5a642-cbd3-4f02-a6fd-1734c3ab0b67"},
{"id":"01a2045c-a6d3-7051-a749-fd12dfaa6aef","at":"2026-11-22T17:45:10.617+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"c0ee73a9-8461-4e85-bcec-166d2fcbaaea"},
{"id":"01a2045c-aac5-7190-b511-a8f60ffb00d4","at":"2026-11-22T17:45:11.628+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"239d499c-49f6-435c-801f-fb6846d7ba23"},
{"id":"01a2045c-aeb9-7132-86b1-afa5eff1aa78","at":"2026-11-22T17:45:12.639+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"ff8e7f27-d8a1-46bd-8d07-c742967c6c1a"},
{"id":"01a2045c-b2af-730f-a73c-0e8e99afc9d2","at":"2026-11-22T17:45:13.653+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"bf323321-753a-45b2-988a-c0b0a2d7f310"},
{"id":"01a2045c-b6a3-75b0-a669-7db1d590fccb","at":"2026-11-22T17:45:14.665+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"419552d8-6d62-4cfa-ae3c-d10c79324abb"},
{"id":"01a2045c-ba96-70f0-99e1-bff3fe876e3d","at":"2026-11-22T17:45:15.677+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"e8eb9991-e9ab-4646-b16a-abfa963dfcc2"},
{"id":"01a2045c-be8c-72fc-94f2-eb0fa6236663","at":"2026-11-22T17:45:16.691+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"19158b3d-495c-4d86-ac58-591c7defa7e6"},
{"id":"01a2045c-c282-7120-85f0-f5f992a97adc","at":"2026-11-22T17:45:17.705+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"13c47e7f-87ad-4986-9ab7-de5963a08362"},
{"id":"01a2045c-c677-74f0-91f9-00916b34276a","at":"2026-11-22T17:45:18.729+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"3e5ac1b7-1d3b-4423-af0f-cebaafd58c95"},
{"id":"01a2045c-ca7c-73a9-b64b-bb3b9f24f767","at":"2026-11-22T17:45:19.747+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"aa91d6e4-e97a-45c5-8b8f-a667a3079c8d"},
{"id":"01a2045c-ce72-75b8-8bd5-84e792096435","at":"2026-11-22T17:45:20.761+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"e4d1f3b0-6b9f-4ce9-a651-40bc1e5ee25d"},
{"id":"01a2045c-d268-7349-a4c6-62b49a91db21","at":"2026-11-22T17:45:21.775+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"f3c78759-2313-4caf-81bf-b1daf1b1f17c"},
{"id":"01a2045c-d65c-709e-bd33-5a43191af491","at":"2026-11-22T17:45:22.787+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"f02f078b-fd36-4043-881f-10d5114daeed"},
{"id":"01a2045c-da52-7063-b813-d72382ad0385","at":"2026-11-22T17:45:23.8+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"a38dcf12-0b6a-4dd0-a2f6-c3b1fb254ada"},
{"id":"01a2045c-de48-700f-a8e9-03b70cdb67dc","at":"2026-11-22T17:45:24.814+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"571afdae-aa8b-47b4-930f-81fc62741a85"},
{"id":"01a2045c-e23c-70eb-85da-4d8e5020a37b","at":"2026-11-22T17:45:25.827+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"ab0ceeae-7d3e-4252-8525-223cc92410cc"},
{"id":"01a2045c-e630-71c5-a2ff-eb5a7f3e0764","at":"2026-11-22T17:45:26.839+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"c18a7106-9948-49ac-9623-4fa33c1ad8e2"},
{"id":"01a2045c-ea27-745f-9858-767baa6d4f96","at":"2026-11-22T17:45:27.854+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"fba9aaa9-dd63-48ca-89fb-8540a17d7ff9"},
{"id":"01a2045c-ee1b-745d-be00-f92298653e1b","at":"2026-11-22T17:45:28.866+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"2d19d294-b3d4-4ce0-8f64-f1b75c924203"},
{"id":"01a2045c-f212-7282-b5bf-a159574bcc61","at":"2026-11-22T17:45:29.884+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"77bd2fd8-15ab-4209-9f5f-8c28831992a5"},
{"id":"01a2045c-f60a-70a7-9826-cf5fc1067d38","at":"2026-11-22T17:45:30.895+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"7279451a-63c5-4d1e-b0bb-6d8798232407"},
{"id":"01a2045c-f9fd-7433-ae0f-215c2c787914","at":"2026-11-22T17:45:31.908+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"dafbdd6f-3bd9-42df-89ba-8529b5c41a48"},
{"id":"01a2045c-fdf2-71c5-86a5-8314231ce54b","at":"2026-11-22T17:45:32.922+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"189dc53e-1ea7-4d87-9b05-587f93bf93ff"},
{"id":"01a2045d-01e7-70d4-9ba9-c0615e8d8a2f","at":"2026-11-22T17:45:33.934+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"dce24a18-73bf-4c0b-8158-b4a400ff202c"},
{"id":"01a2045d-05da-746c-9de1-ab508cb27c1f","at":"2026-11-22T17:45:34.945+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"657570ad-b573-4b90-9286-95e76bd6f62c"},
{"id":"01a2045d-09cf-7452-a3e2-b0387e2c88f3","at":"2026-11-22T17:45:35.957+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"4ca9b469-9195-48b7-b799-73f4f8aa638a"},
{"id":"01a2045d-0dc2-766a-91cd-7f1ab59d62e4","at":"2026-11-22T17:45:36.968+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045b-dbf3-712c-be12-c9a5534f53d3","status":200,"aborted":false,"request_id":"fe5ab126-26d3-4a38-a9dd-568f1ac04ce5"},
{"id":"01a2045d-0dcd-7680-aabc-47e34d541ac2","at":"2026-11-22T17:45:37.02+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments","status":201,"aborted":false,"request_id":"5de19741-74de-4dfe-94fa-6eadb3ba4d5c"},
{"id":"01a2045d-0e04-70d7-85c4-5d0dcfe2c9bf","at":"2026-11-22T17:45:37.032+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"7da3c414-c68c-40db-af82-16de7b1dc594"},
{"id":"01a2045d-11f4-7118-91de-fdb4a52bf633","at":"2026-11-22T17:45:38.042+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"35a4a817-d58f-4657-8aaf-8401e62c6bf9"},
{"id":"01a2045d-15e7-7047-bbf5-1dc61254f4d6","at":"2026-11-22T17:45:39.053+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"2654d768-6c20-4557-b34d-521eea157fcd"},
{"id":"01a2045d-19da-77af-8ac6-2ea8726f65f8","at":"2026-11-22T17:45:40.066+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"1b11b34a-e942-4ca9-a72d-ca0481a1e823"},
{"id":"01a2045d-1dd1-76ca-ac91-8603b707ee36","at":"2026-11-22T17:45:41.085+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"bde171ea-9a0b-4540-8070-1f5f86d0da61"},
{"id":"01a2045d-21c9-7024-9017-bcd3ebb65736","at":"2026-11-22T17:45:42.096+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"288b7b52-6425-4004-b54f-72a1dc35bc33"},
{"id":"01a2045d-21d4-7646-ab0b-86804482bbad","at":"2026-11-22T17:45:42.118+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"DELETE","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"12e18394-0182-4c0b-84d9-cc4d30a3f7db"},
{"id":"01a2045d-21ea-7045-998a-5c752bf1118c","at":"2026-11-22T17:45:42.127+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"3f657bca-ba1c-4cd4-a293-0d2d64500a52"},
{"id":"01a2045d-25df-7352-bc04-c3652f0e41e8","at":"2026-11-22T17:45:43.142+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"5facb38f-abf5-4a07-8287-02f41ac9ebb3"},
{"id":"01a2045d-29d3-719a-bb21-32492b6e995a","at":"2026-11-22T17:45:44.153+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"4bb2b501-891d-44dc-a5c4-e36e16c3c461"},
{"id":"01a2045d-2dc5-74c2-bec0-3b7d08ce70b3","at":"2026-11-22T17:45:45.163+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"617d110f-795c-4597-8fcd-1bd85d2d42dd"},
{"id":"01a2045d-31b7-73c9-b24c-1c8cfeaa1cf4","at":"2026-11-22T17:45:46.173+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"f0f78937-e627-40d6-9bec-b80b375aae47"},
{"id":"01a2045d-35ab-76ea-8ebf-812788dfb938","at":"2026-11-22T17:45:47.185+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"72873e03-de9a-4d00-9fab-10359df115bc"},
{"id":"01a2045d-399e-7521-8d8c-eafce1d673fd","at":"2026-11-22T17:45:48.197+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"3bab6bda-84e6-4ae3-859d-f521f9949df2"},
{"id":"01a2045d-3d91-753b-87bf-d0ccec38ecfa","at":"2026-11-22T17:45:49.208+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"cf919636-2c4b-4d04-a218-4bf5b4ace701"},
{"id":"01a2045d-4187-7356-b7b2-f50bfb04fe8e","at":"2026-11-22T17:45:50.222+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"2547d32e-92b1-42e3-8e90-c9b634d51fed"},
{"id":"01a2045d-457c-7486-b2b5-9ff887a938df","at":"2026-11-22T17:45:51.234+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"f6cea4bc-957a-42ee-9683-f4dbb95a1025"},
{"id":"01a2045d-4970-7285-a09b-7c4de1f15d7a","at":"2026-11-22T17:45:52.247+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"5f2e47f8-f266-4087-9e4d-99190daa10ff"},
{"id":"01a2045d-4d64-741a-b57f-05df85540476","at":"2026-11-22T17:45:53.26+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"b1f7ae19-b258-4c52-95d4-4323a6290e1f"},
{"id":"01a2045d-5159-740a-88f8-5b3cc1ecb920","at":"2026-11-22T17:45:54.274+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"0c7e7e96-db14-4121-8932-9a8b3d4bb19a"},
{"id":"01a2045d-554e-76a4-b2a7-66abe6d08c91","at":"2026-11-22T17:45:55.283+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"0352acf3-1e7f-4c94-97c3-47c134ae8558"},
{"id":"01a2045d-5940-7780-8a0f-02d4cde86f25","at":"2026-11-22T17:45:56.295+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"16672314-5404-43ef-9d82-0a54dce47ca4"},
{"id":"01a2045d-5d35-7575-99ce-dae99b5c3756","at":"2026-11-22T17:45:57.308+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"56c8122f-c7f0-4c62-b0f8-65fc317c29fb"},
{"id":"01a2045d-6129-73ba-89e9-2a4aa9ff84ff","at":"2026-11-22T17:45:58.32+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"6caf2cca-de12-4182-bc9e-234795646256"},
{"id":"01a2045d-651d-7553-bf93-fc6097987e07","at":"2026-11-22T17:45:59.331+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"36bc6032-5ac8-42d8-8d3e-cf0e365e1be6"},
{"id":"01a2045d-6910-7758-811b-07795f510834","at":"2026-11-22T17:46:00.343+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"8de6e8f4-3f61-482d-b6e4-01776bcf3602"},
{"id":"01a2045d-6d03-7214-adca-4820825db42e","at":"2026-11-22T17:46:01.353+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"c1cab3fa-94e2-46e6-860a-cd695b744a08"},
{"id":"01a2045d-70f6-76e5-b23d-c8cd6932a45e","at":"2026-11-22T17:46:02.365+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"f5756aca-cba3-4f9f-9e91-3b70ccda0fad"},
{"id":"01a2045d-74ea-7633-8e62-5c84fbae7b9e","at":"2026-11-22T17:46:03.376+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"8b644cf4-05d8-49d1-8844-4cbc3646841c"},
{"id":"01a2045d-78dc-75a5-8625-d4903a281736","at":"2026-11-22T17:46:04.387+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"f9890401-c26f-4d2f-8ca8-9468bdc75f83"},
{"id":"01a2045d-7ccf-70a6-9f2b-ff6b23f4f4cb","at":"2026-11-22T17:46:05.397+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"ca9c333f-497e-4583-9269-fd7f3667477a"},
{"id":"01a2045d-80c2-7401-b0c8-e0cf8da7a328","at":"2026-11-22T17:46:06.409+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"84618eda-12e7-4ac4-878f-ffde7b610d7a"},
{"id":"01a2045d-84b6-7645-b0d6-39c798bc19e0","at":"2026-11-22T17:46:07.42+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"e261e898-79f1-40ba-a4d3-7e0e415af716"},
{"id":"01a2045d-88a9-70da-b307-cbc3f3fdcd0a","at":"2026-11-22T17:46:08.431+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"a25f4994-a453-4550-bfca-b915a52f7f91"},
{"id":"01a2045d-8c9c-756a-b060-fce86b4e253f","at":"2026-11-22T17:46:09.444+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"5f74254d-2e89-4df3-80a7-593cf2c23794"},
{"id":"01a2045d-9092-710b-ad52-6850f12dce74","at":"2026-11-22T17:46:10.456+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"0e6427e4-5aaa-49fa-a9fe-8d21e79456c1"},
{"id":"01a2045d-9487-77bb-85a3-444c073e24cc","at":"2026-11-22T17:46:11.469+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"f1f0af3e-452d-4f99-8747-b2b8c1aafefe"},
{"id":"01a2045d-987d-73d1-a067-691c5a15a0f4","at":"2026-11-22T17:46:12.485+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":200,"aborted":false,"request_id":"5106ae2e-384d-417c-857f-d80a83c7fe82"},
{"id":"01a2045d-9c73-7435-8931-07c192cc6489","at":"2026-11-22T17:46:13.498+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a2045d-0dd1-72c5-90e8-7030e79b0985","status":404,"aborted":false,"request_id":"14b72fd4-2677-45db-bc1b-69ae81d71172"},
{"id":"01a2045d-9c7f-71bb-8493-f36179d3c35b","at":"2026-11-22T17:46:13.664+00:00","token_id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/users","status":201,"aborted":false,"request_id":"2bac6957-8a00-4321-9af5-e06c96ed3c09"}]');
DELETE FROM "catalog_categories";
INSERT INTO "catalog_categories" SELECT * FROM json_populate_recordset(null::"catalog_categories", '[{"id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","sort_order":10,"sort_name":"inference","document":{"id": "01a2045b-bbfb-772b-891c-905c7ec5c10e", "icon": "cpu", "name": "Inference", "slug": "inference", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 10, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Servers that answer requests with language and embedding models, and the gateways and chat pages in front of them.", "template_count": 1}},
{"id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","sort_order":20,"sort_name":"notebooks and editors","document":{"id": "01a2045b-bc0b-703c-b51a-2f2b1c05a8f4", "icon": "notebook", "name": "Notebooks and editors", "slug": "notebooks", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 20, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Interactive workspaces in the browser for Python, R and general development.", "template_count": 0}},
{"id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","sort_order":30,"sort_name":"vision and speech","document":{"id": "01a2045b-bc16-712f-9f7f-ba4bc2a9e285", "icon": "image", "name": "Vision and speech", "slug": "vision-and-speech", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 30, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Image generation, speech recognition and speech synthesis.", "template_count": 0}},
{"id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","sort_order":40,"sort_name":"vector stores","document":{"id": "01a2045b-bc1a-71a9-9fa4-aa8b59739f33", "icon": "vector", "name": "Vector stores", "slug": "vector-stores", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 40, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Databases that find the nearest neighbours of an embedding.", "template_count": 0}},
{"id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","sort_order":50,"sort_name":"databases","document":{"id": "01a2045b-bc1c-75a8-9a8a-570edbb521fa", "icon": "database", "name": "Databases", "slug": "databases", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 50, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Relational, document and analytical databases.", "template_count": 1}},
{"id":"01a2045b-bc2a-729c-a880-da8f302db76d","sort_order":60,"sort_name":"caches and queues","document":{"id": "01a2045b-bc2a-729c-a880-da8f302db76d", "icon": "layers", "name": "Caches and queues", "slug": "caches-and-queues", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 60, "updated_at": "2026-11-22T17:44:10.447Z", "description": "In-memory stores and message brokers that connect the parts of an application.", "template_count": 2}},
{"id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","sort_order":70,"sort_name":"storage and backup","document":{"id": "01a2045b-bc2b-775e-abe3-5160dd6cb8f6", "icon": "archive", "name": "Storage and backup", "slug": "storage", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 70, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Object storage, image registries, and jobs that copy or back up volumes.", "template_count": 1}},
{"id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","sort_order":80,"sort_name":"observability","document":{"id": "01a2045b-bc2c-70e9-b2a5-ce1162b680ea", "icon": "chart", "name": "Observability", "slug": "observability", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 80, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Metrics, logs, traces, dashboards and uptime checks.", "template_count": 0}},
{"id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","sort_order":90,"sort_name":"ml ops and ci","document":{"id": "01a2045b-bc30-772e-92a5-a3b43d05fe0a", "icon": "workflow", "name": "ML ops and CI", "slug": "ml-ops-and-ci", "created_at": "2026-11-22T17:44:10.447Z", "is_private": false, "sort_order": 90, "updated_at": "2026-11-22T17:44:10.447Z", "description": "Experiment tracking, labelling, training jobs, workflow schedulers and CI runners.", "template_count": 0}},
{"id":"01a2045b-d575-7777-98f8-29e2f1745ba0","sort_order":0,"sort_name":"internal","document":{"id": "01a2045b-d575-7777-98f8-29e2f1745ba0", "icon": "", "name": "Internal", "slug": "internal", "created_at": "2026-11-22T17:44:17.011Z", "is_private": true, "sort_order": 0, "updated_at": "2026-11-22T17:44:17.011Z", "description": "", "template_count": 1}}]');
DELETE FROM "catalog_sync";
INSERT INTO "catalog_sync" SELECT * FROM json_populate_recordset(null::"catalog_sync", '[{"id":1,"source":"Llvd8kxiqRMolZFVmL5UyXo_HI5qUpz1LK_xA7idB8c","cursor":"eyJ2IjoxLCJvZiI6IjAxYTIwNDViLWJhZGEtNzc3ZS04MGZhLTI0NzVmOTk3M2M1MyIsInNlZW4iOnsiYXQiOiIyMDI2LTExLTIyVDE3OjQ0OjE3LjQ3MloiLCJjb21taXQiOiI5MjY2YWY3NS1kYmE0LTQ2MDctYTkzOC0xZmNhZGQ0YTM4MDAifSwicG9zaXRpb24iOnsiYXQiOiIyMDI2LTExLTIyVDE3OjQ0OjE3LjQ3MloifSwiY2hlY2tlZCI6IjIwMjYtMTEtMjJUMTc6NDQ6MTcuNDcyWiJ9","checked_at":"2026-11-22T17:44:17.472+00:00","generation":2,"in_full_walk":false,"found_empty":false,"organization":{"id": "01a2045b-bada-777e-80fa-2475f9973c53", "name": "Demo organization", "slug": "demo", "tier": "pro", "status": "active"},"last_success_at":"2026-11-22T17:44:17.533+00:00","last_full":false,"last_updated":1,"last_removed":0,"stale_since":null,"last_failure_at":null,"failure_kind":null,"failure_reason":null,"failures":0,"next_at":null,"lease_owner":null,"lease_until":null}]');
DELETE FROM "catalog_templates";
INSERT INTO "catalog_templates" SELECT * FROM json_populate_recordset(null::"catalog_templates",  E'[{"id":"01a2045b-bccb-77fa-9df1-07a6b55a45ea","slug":"comfyui","category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","category_slug":"internal","is_featured":true,"tags":["image","diffusion","stable-diffusion","flux","gpu"],"search_text":"comfyui\\u001fnode editor for image and video generation with stable diffusion, flux and others, in a community image for cuda 12.6.","sort_name":"comfyui","updated_at":"2026-11-22T17:44:17.034+00:00","generation":2,"document":{"id": "01a2045b-bccb-77fa-9df1-07a6b55a45ea", "env": [], "kind": "service", "name": "ComfyUI", "slug": "comfyui", "tags": ["image", "diffusion", "stable-diffusion", "flux", "gpu"], "ports": [{"protocol": "TCP", "containerPort": 8188}], "command": [], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 1, "image_tag": "cu126-slim", "is_public": true, "created_at": "2026-11-22T17:44:10.447Z", "env_schema": [{"name": "CLI_ARGS", "required": false, "description": "Arguments for ComfyUI, for example --lowvram or --fast.", "default_value": ""}, {"name": "HF_TOKEN", "required": false, "description": "Hugging Face token for gated model downloads.", "default_value": ""}], "image_name": "yanwk/comfyui-boot", "updated_at": "2026-11-22T17:44:17.034Z", "category_id": "01a2045b-d575-7777-98f8-29e2f1745ba0", "cpu_request": "4", "description": "Node editor for image and video generation with Stable Diffusion, Flux and others, in a community image for CUDA 12.6.", "is_featured": true, "secret_refs": [], "tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}], "registry_url": null, "vram_request": "12Gi", "category_icon": "", "category_name": "Internal", "category_slug": "internal", "documentation": "# ComfyUI\\n\\nBuilds image and video pipelines from nodes. At the first start the image copies ComfyUI and its manager into the\\nvolume, and runs it from there.\\n\\n## Access\\nOpen port 8188. There is no sign-in: keep it private, or put an authenticating proxy in front.\\n\\n## Notes\\n- Everything (models, custom nodes, outputs) is under `/root`; models go to `/root/ComfyUI/models`.\\n- `CLI_ARGS` passes options such as `--lowvram` for small cards.\\n- The project publishes rolling tags for each CUDA line, not numbered ones. Pin a digest for exact repeats.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/system_stats\\n```\\n", "node_selector": {"kubernetes.io/arch": "amd64"}, "volume_mounts": [{"name": "storage", "mountPath": "/root"}], "download_count": 0, "memory_request": "16Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}},
{"id":"01a2045b-bccc-702f-8681-f4b3c905ace4","slug":"ollama","category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","category_slug":"inference","is_featured":true,"tags":["llm","inference","openai","gpu"],"search_text":"ollama\\u001fpulls and serves open models by name, with a simple api of its own and an openai-compatible one.","sort_name":"ollama","updated_at":"2026-11-22T17:44:10.447+00:00","generation":2,"document":{"id": "01a2045b-bccc-702f-8681-f4b3c905ace4", "env": [], "kind": "service", "name": "Ollama", "slug": "ollama", "tags": ["llm", "inference", "openai", "gpu"], "ports": [{"protocol": "TCP", "containerPort": 11434}], "command": [], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 1, "image_tag": "0.15.2", "is_public": true, "created_at": "2026-11-22T17:44:10.447Z", "env_schema": [{"name": "OLLAMA_KEEP_ALIVE", "required": false, "description": "How long a model stays loaded after its last request, for example 5m, 24h or -1 for no limit.", "default_value": "5m"}, {"name": "OLLAMA_NUM_PARALLEL", "required": false, "description": "Requests that each loaded model processes at the same time.", "default_value": "2"}, {"name": "OLLAMA_MAX_LOADED_MODELS", "required": false, "description": "Models kept in memory at the same time.", "default_value": "1"}, {"name": "OLLAMA_CONTEXT_LENGTH", "required": false, "description": "Default context window in tokens.", "default_value": "4096"}], "image_name": "ollama/ollama", "updated_at": "2026-11-22T17:44:10.447Z", "category_id": "01a2045b-bbfb-772b-891c-905c7ec5c10e", "cpu_request": "4", "description": "Pulls and serves open models by name, with a simple API of its own and an OpenAI-compatible one.", "is_featured": true, "secret_refs": [], "tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}], "registry_url": null, "vram_request": "8Gi", "category_icon": "cpu", "category_name": "Inference", "category_slug": "inference", "documentation": "# Ollama\\n\\nA model runner that downloads models by name and loads them on demand. It starts without any model.\\n\\n## Access\\nThe API listens on port 11434. It has no authentication: keep it on a private network, or put a gateway such as\\nLiteLLM or Open WebUI in front of it.\\n\\n## Notes\\n- `OLLAMA_KEEP_ALIVE` decides when an idle model leaves the GPU.\\n- `OLLAMA_NUM_PARALLEL` and `OLLAMA_CONTEXT_LENGTH` multiply the memory that a model takes.\\n- The `ollama-data` volume keeps the downloaded models.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/api/pull -d ''{\\"model\\": \\"llama3.2\\"}''\\ncurl http://$ENDPOINT/api/generate -d ''{\\"model\\": \\"llama3.2\\", \\"prompt\\": \\"Why is the sky blue?\\", \\"stream\\": false}''\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "ollama-data", "mountPath": "/root/.ollama"}], "download_count": 0, "memory_request": "16Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}},
{"id":"01a2045b-bccc-702f-8682-06ad102349f5","slug":"postgresql","category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","category_slug":"databases","is_featured":true,"tags":["database","sql","postgres"],"search_text":"postgresql\\u001fthe postgresql 17 relational database with one persistent volume.","sort_name":"postgresql","updated_at":"2026-11-22T17:44:10.447+00:00","generation":2,"document":{"id": "01a2045b-bccc-702f-8682-06ad102349f5", "env": [{"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"}], "kind": "service", "name": "PostgreSQL", "slug": "postgresql", "tags": ["database", "sql", "postgres"], "ports": [{"protocol": "TCP", "containerPort": 5432}], "command": [], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "17.5", "is_public": true, "created_at": "2026-11-22T17:44:10.447Z", "env_schema": [{"name": "POSTGRES_PASSWORD", "required": true, "description": "Password of the first user.", "default_value": ""}, {"name": "POSTGRES_USER", "required": false, "description": "Name of the first user, who is superuser.", "default_value": "postgres"}, {"name": "POSTGRES_DB", "required": false, "description": "Database that is created at the first start.", "default_value": "app"}, {"name": "POSTGRES_INITDB_ARGS", "required": false, "description": "Arguments for initdb at the first start.", "default_value": "--data-checksums"}], "image_name": "postgres", "updated_at": "2026-11-22T17:44:10.447Z", "category_id": "01a2045b-bc1c-75a8-9a8a-570edbb521fa", "cpu_request": "1", "description": "The PostgreSQL 17 relational database with one persistent volume.", "is_featured": true, "secret_refs": [], "tolerations": [], "registry_url": null, "vram_request": "", "category_icon": "database", "category_name": "Databases", "category_slug": "databases", "documentation": "# PostgreSQL\\n\\nOne PostgreSQL server. It is not replicated: back it up, for example with the restic job.\\n\\n## Access\\nPort 5432, with `psql` or any driver.\\n\\n## Notes\\n- The `POSTGRES_` variables are read only while the volume is empty. Change passwords with `ALTER ROLE` later.\\n- `PGDATA` is a folder below the volume, because some file systems put `lost+found` at its top.\\n- A volume belongs to one major version. Moving to the next one needs `pg_dump` and a restore.\\n\\n## Example\\n```sh\\npsql \\"postgresql://postgres:$POSTGRES_PASSWORD@$ENDPOINT/app\\" -c ''SELECT version()''\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/var/lib/postgresql/data"}], "download_count": 0, "memory_request": "1Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}},
{"id":"01a2045b-bccc-702f-8682-1d28a0cda675","slug":"redis","category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","category_slug":"caches-and-queues","is_featured":true,"tags":["cache","key-value","redis"],"search_text":"redis\\u001fan in-memory data store","sort_name":"redis","updated_at":"2026-11-22T17:44:17.212+00:00","generation":2,"document":{"id": "01a2045b-bccc-702f-8682-1d28a0cda675", "env": [], "kind": "service", "name": "Redis", "slug": "redis", "tags": ["cache", "key-value", "redis"], "ports": [{"protocol": "TCP", "containerPort": 6379}], "command": ["redis-server", "--appendonly", "yes", "--maxmemory", "768mb", "--maxmemory-policy", "noeviction"], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "7.4.2", "is_public": true, "created_at": "2026-11-22T17:44:10.447Z", "env_schema": [], "image_name": "redis", "updated_at": "2026-11-22T17:44:17.212Z", "category_id": "01a2045b-bc2a-729c-a880-da8f302db76d", "cpu_request": "500m", "description": "An in-memory data store", "is_featured": true, "secret_refs": [], "tolerations": [], "registry_url": null, "vram_request": "", "category_icon": "layers", "category_name": "Caches and queues", "category_slug": "caches-and-queues", "documentation": "# Redis\\n\\nKeeps data in memory and logs every write to the volume, so that a restart loses a second at most.\\n\\n## Access\\nPort 6379. The image has no variable for a password, so this template requires a private mesh network. To demand\\none, add `--requirepass` and the password to the command.\\n\\n## Notes\\n- `--maxmemory` stays below the requested memory, because writing the log needs room.\\n- For a pure cache use `--maxmemory-policy allkeys-lru` and `--appendonly no`.\\n\\n## Example\\n```sh\\nredis-cli -u redis://$ENDPOINT SET greeting hello\\nredis-cli -u redis://$ENDPOINT GET greeting\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "download_count": 0, "memory_request": "1Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": ["mesh"]}},
{"id":"01a2045b-bccc-702f-8682-23eed35e3758","slug":"restic-backup","category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","category_slug":"storage","is_featured":true,"tags":["backup","storage","s3","job"],"search_text":"restic backup\\u001fjob that backs up a volume, encrypted and deduplicated, to an s3 bucket or another restic repository.","sort_name":"restic backup","updated_at":"2026-11-22T17:44:10.447+00:00","generation":2,"document":{"id": "01a2045b-bccc-702f-8682-23eed35e3758", "env": [], "kind": "job", "name": "Restic backup", "slug": "restic-backup", "tags": ["backup", "storage", "s3", "job"], "ports": [], "command": ["backup", "/data", "--tag", "fleet"], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "0.18.0", "is_public": true, "created_at": "2026-11-22T17:44:10.447Z", "env_schema": [{"name": "RESTIC_REPOSITORY", "required": true, "description": "Repository, for example s3:https://s3.example.net/backups.", "default_value": ""}, {"name": "AWS_DEFAULT_REGION", "required": false, "description": "Region of the bucket.", "default_value": "us-east-1"}], "image_name": "restic/restic", "updated_at": "2026-11-22T17:44:10.447Z", "category_id": "01a2045b-bc2b-775e-abe3-5160dd6cb8f6", "cpu_request": "500m", "description": "Job that backs up a volume, encrypted and deduplicated, to an S3 bucket or another restic repository.", "is_featured": true, "secret_refs": [{"env": "RESTIC_PASSWORD", "key": "password", "name": "restic"}, {"env": "AWS_ACCESS_KEY_ID", "key": "access-key", "name": "restic"}, {"env": "AWS_SECRET_ACCESS_KEY", "key": "secret-key", "name": "restic"}], "tolerations": [], "registry_url": null, "vram_request": "", "category_icon": "archive", "category_name": "Storage and backup", "category_slug": "storage", "documentation": "# Restic backup\\n\\nRuns once: reads the volume at `/data` and writes what is new to the repository. Everything is encrypted before it\\nleaves the machine.\\n\\n## Before the first run\\n- Create a fleet secret named `restic` with the keys `password`, `access-key` and `secret-key`. Without that password\\n  nothing can be restored. Keep a copy elsewhere.\\n- Initialize the repository once: the same job with the command `init`.\\n\\n## Notes\\n- Attach the volume to save as `data`. Databases should be dumped first, or stopped.\\n- `RESTIC_REPOSITORY` also takes `rest:https://...`, `sftp:...` and other backends.\\n- Old snapshots are removed with the command `forget --keep-daily 7 --keep-weekly 4 --prune`.\\n\\n## Example\\n```sh\\nrestic -r \\"$RESTIC_REPOSITORY\\" snapshots\\nrestic -r \\"$RESTIC_REPOSITORY\\" restore latest --target /tmp/restored\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}, {"name": "cache", "mountPath": "/root/.cache/restic"}], "download_count": 0, "memory_request": "1Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}},
{"id":"01a2045b-d746-720a-b7cb-5afd81163356","slug":"web","category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","category_slug":"caches-and-queues","is_featured":false,"tags":[],"search_text":"web\\u001fa web server","sort_name":"web","updated_at":"2026-11-22T17:44:17.472+00:00","generation":2,"document":{"id": "01a2045b-d746-720a-b7cb-5afd81163356", "env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "name": "Web", "slug": "web", "tags": [], "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "echo \\"$GREETING $PASSWORD\\" > /data/index.html; exec httpd -f -p 8080 -h /data"], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "1", "is_public": true, "created_at": "2026-11-22T17:44:17.472Z", "env_schema": [], "image_name": "recorded/busybox", "updated_at": "2026-11-22T17:44:17.472Z", "category_id": "01a2045b-bc2a-729c-a880-da8f302db76d", "cpu_request": "50m", "description": "A web server", "is_featured": false, "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "category_icon": "layers", "category_name": "Caches and queues", "category_slug": "caches-and-queues", "documentation": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "download_count": 0, "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}}]');
DELETE FROM "clusters";
INSERT INTO "clusters" SELECT * FROM json_populate_recordset(null::"clusters",  E'[{"id":"01a2045b-d7cf-7587-9e7f-4f23121c76ae","name":"unreachable-cluster","labels":{},"version":1,"created_at":"2026-11-22T17:44:17.613+00:00","updated_at":"2026-11-22T17:44:17.613+00:00","created_by":"token:demo-admin","server":"https://127.0.0.1:1","by_admin":true,"ca_certificate":null,"auth_kind":"token","sealed":"{\\"ciphertext\\":\\"_NVOuK3DdeA8euuuMhvdHP89mbIiSs7lsON9vI8W8_KkB8SLw-zaA62GT5RzkxhjjjbQ5MenYSYeGsHu6Xbgi1QDliXfuEQ\\",\\"iv\\":\\"adr0vSp6wjjNZyY-\\",\\"tag\\":\\"iENzo799egkNM55V7Lv5aw\\",\\"encrypted_key\\":\\"_6pb3MELdKgu5iNpmcPqOffpRxhDI6p4v1LmQ5j8PyKJdCKFAGMtQg\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","namespace":"apps","network_types":[],"default_storage_class":null,"gpu_resource_name":"nvidia.com/gpu","reachability":"unreachable","last_seen_at":null,"kubernetes_version":null,"capacity":null,"cpu_millis":null,"memory_bytes":null,"gpu_count":null,"conditions":[],"storage_classes":[],"check_at":"2026-11-22T17:46:28.554+00:00","check_failures":7,"unreachable_reason":"The connection to its endpoint was refused."}]');
DELETE FROM "deployment_events";
INSERT INTO "deployment_events" SELECT * FROM json_populate_recordset(null::"deployment_events", '[{"id":"01a2045b-dc34-70b2-b1a5-f133a203777b","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:44:18.746+00:00","kind":"operation","generation":1,"reason":"create","message":"created from revision 1, replicas: 1","actor":"token:demo-admin"},
{"id":"01a2045b-dea7-76db-a60b-8af1c3d9e98f","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:44:19.369+00:00","kind":"event","generation":1,"reason":"engine","message":"created the volume web-data-51491003","actor":null},
{"id":"01a2045b-dea8-77f3-acaf-1685b69ca9be","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:44:19.369+00:00","kind":"event","generation":1,"reason":"engine","message":"created web-534f53d3-0","actor":null},
{"id":"01a2045b-dea8-77f3-acaf-1844ae4e74cc","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:44:19.369+00:00","kind":"event","generation":1,"reason":"starting","message":"0 of 1 up.","actor":null},
{"id":"01a2045b-ef2d-7268-bf70-0b7374864938","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:44:23.601+00:00","kind":"event","generation":1,"reason":"running","message":"1 of 1 up.","actor":null},
{"id":"01a2045b-f061-720c-a5c0-bfca776f7659","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:23.906+00:00","kind":"operation","generation":1,"reason":"create","message":"created from revision 1, replicas: 2","actor":"token:demo-admin"},
{"id":"01a2045b-f387-7657-bead-5e997e866231","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:24.714+00:00","kind":"event","generation":1,"reason":"engine","message":"created the volume archive-data-69b7cb16","actor":null},
{"id":"01a2045b-f387-7657-bead-61713111a8ac","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:24.714+00:00","kind":"event","generation":1,"reason":"engine","message":"created archive-e1ceb8b9-0","actor":null},
{"id":"01a2045b-f387-7657-bead-6682512a87f7","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:24.714+00:00","kind":"event","generation":1,"reason":"engine","message":"created archive-e1ceb8b9-1","actor":null},
{"id":"01a2045b-f387-7657-bead-6be02bc41ad3","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:24.714+00:00","kind":"event","generation":1,"reason":"starting","message":"0 of 2 up.","actor":null},
{"id":"01a2045c-0467-71cb-8b5b-0a26cd3c51b6","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:29.033+00:00","kind":"event","generation":1,"reason":"running","message":"2 of 2 up.","actor":null},
{"id":"01a2045c-0849-750e-8f1f-a72e6ea01093","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:44:30.027+00:00","kind":"operation","generation":2,"reason":"stop","message":"stop requested","actor":"token:demo-admin"},
{"id":"01a2045c-7f29-725b-bb8a-496531095a01","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:45:00.459+00:00","kind":"event","generation":2,"reason":"engine","message":"removed archive-e1ceb8b9-0","actor":null},
{"id":"01a2045c-7f29-725b-bb8a-4cb0fcb48d0c","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:45:00.459+00:00","kind":"event","generation":2,"reason":"engine","message":"removed archive-e1ceb8b9-1","actor":null},
{"id":"01a2045c-7f29-725b-bb8a-50d9629adffa","deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","at":"2026-11-22T17:45:00.459+00:00","kind":"event","generation":2,"reason":"stopped","message":"All containers are removed.","actor":null},
{"id":"01a2045c-832b-758c-b1b2-08930044a59f","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:45:01.485+00:00","kind":"operation","generation":2,"reason":"restart","message":"restart requested","actor":"token:demo-admin"},
{"id":"01a2045c-fb1c-762b-ab94-3f5c8527ccec","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:45:32.19+00:00","kind":"event","generation":2,"reason":"engine","message":"created web-534f53d3-0 again: its configuration has changed","actor":null},
{"id":"01a2045c-fb1c-762b-ab94-430f974a204f","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:45:32.19+00:00","kind":"event","generation":2,"reason":"starting","message":"0 of 1 up.","actor":null},
{"id":"01a2045d-0b8f-7127-862e-3252b8b2f0d8","deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","at":"2026-11-22T17:45:36.401+00:00","kind":"event","generation":2,"reason":"running","message":"1 of 1 up.","actor":null}]');
DELETE FROM "deployment_revisions";
INSERT INTO "deployment_revisions" SELECT * FROM json_populate_recordset(null::"deployment_revisions", '[{"deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","generation":1,"operation":"create","revision":1,"replicas":1,"env":{},"desired_state":"running","created_at":"2026-11-22T17:44:18.671+00:00","created_by":"token:demo-admin"},
{"deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","generation":2,"operation":"restart","revision":1,"replicas":1,"env":{},"desired_state":"running","created_at":"2026-11-22T17:45:01.447+00:00","created_by":"token:demo-admin"},
{"deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","generation":1,"operation":"create","revision":1,"replicas":2,"env":{"GREETING": "good day"},"desired_state":"running","created_at":"2026-11-22T17:44:23.864+00:00","created_by":"token:demo-admin"},
{"deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","generation":2,"operation":"stop","revision":1,"replicas":2,"env":{"GREETING": "good day"},"desired_state":"stopped","created_at":"2026-11-22T17:44:30.004+00:00","created_by":"token:demo-admin"}]');
DELETE FROM "deployments";
INSERT INTO "deployments" SELECT * FROM json_populate_recordset(null::"deployments", '[{"id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","name":"web","labels":{},"version":2,"created_at":"2026-11-22T17:44:18.671+00:00","updated_at":"2026-11-22T17:45:01.466+00:00","created_by":"token:demo-admin","workload_id":"01a2045b-dbf3-712c-be12-c71ef4057838","revision":1,"host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","cluster_id":null,"replicas":1,"env":{},"desired_state":"running","restarted_at":"2026-11-22T17:45:01.466+00:00","cpu_millis":50,"memory_bytes":33554432,"gpu_count":0,"generation":2,"observed_generation":2,"phase":"running","reason":null,"message":"1 of 1 up.","conditions":[],"endpoints":[{"address": "127.0.0.1:20568", "protocol": "TCP", "container_port": 8080}],"instances":[{"name": "web-534f53d3-0", "phase": "running", "message": "is running", "restarts": 0}],"observed_at":"2026-11-22T17:45:36.397+00:00","sent_to_engine":true,"deleting":false,"take_over":false,"due_at":"2026-11-22T17:46:43.246+00:00","failures":0,"lease_owner":null,"lease_until":null},
{"id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","name":"archive","labels":{},"version":2,"created_at":"2026-11-22T17:44:23.864+00:00","updated_at":"2026-11-22T17:44:30.015+00:00","created_by":"token:demo-admin","workload_id":"01a2045b-f03d-77c8-976d-9ba07996ceb8","revision":1,"host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","cluster_id":null,"replicas":2,"env":{"GREETING": "good day"},"desired_state":"stopped","restarted_at":null,"cpu_millis":0,"memory_bytes":0,"gpu_count":0,"generation":2,"observed_generation":2,"phase":"stopped","reason":null,"message":"All containers are removed.","conditions":[],"endpoints":[],"instances":[],"observed_at":"2026-11-22T17:46:08.099+00:00","sent_to_engine":true,"deleting":false,"take_over":false,"due_at":"2026-11-22T17:47:03.667+00:00","failures":0,"lease_owner":null,"lease_until":null}]');
DELETE FROM "download_reports";
INSERT INTO "download_reports" SELECT * FROM json_populate_recordset(null::"download_reports", '[{"template_id":"01a2045b-d746-720a-b7cb-5afd81163356","slug":"web","claimed_at":"2026-11-22T17:44:18.773+00:00","reported_at":"2026-11-22T17:44:18.793+00:00"}]');
DELETE FROM "encryption_canary";
INSERT INTO "encryption_canary" SELECT * FROM json_populate_recordset(null::"encryption_canary",  E'[{"id":1,"sealed":"{\\"ciphertext\\":\\"Dlh_Z46o\\",\\"iv\\":\\"o98WrJ5Tb4HQbwe3\\",\\"tag\\":\\"SFIojoDym7dg3vnpdLxWwg\\",\\"encrypted_key\\":\\"f0bgd1rVlSrHY7YYtdofAZNvxrUObhoobKE4yj81qhthNvtCFDLLiw\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local"}]');
DELETE FROM "hosts";
INSERT INTO "hosts" SELECT * FROM json_populate_recordset(null::"hosts", '[{"id":"01a2045b-cf0f-7749-88d8-657e544661a7","name":"local","labels":{},"version":1,"created_at":"2026-11-22T17:44:15.374+00:00","updated_at":"2026-11-22T17:44:15.374+00:00","created_by":"token:demo-admin","engine":"podman","endpoint":"unix:///run/podman/podman.sock","by_admin":true,"sealed":null,"key_id":null,"network_types":["mesh","public"],"taints":[],"schedulable":true,"gpus":[],"reachability":"online","last_seen_at":"2026-11-22T17:45:46.966+00:00","engine_version":"4.3.1","arch":"amd64","cpu_millis":2000,"memory_bytes":25276514304,"check_at":"2026-11-22T17:46:16.468+00:00","check_failures":0,"unreachable_reason":""},
{"id":"01a2045b-d7b2-7568-9540-357e8423dde8","name":"recorded","labels":{"zone": "a"},"version":1,"created_at":"2026-11-22T17:44:17.586+00:00","updated_at":"2026-11-22T17:44:17.586+00:00","created_by":"token:demo-admin","engine":"podman","endpoint":"tcp://127.0.0.1:41861","by_admin":true,"sealed":null,"key_id":null,"network_types":[],"taints":[],"schedulable":true,"gpus":[],"reachability":"online","last_seen_at":"2026-11-22T17:45:48.905+00:00","engine_version":"4.3.1","arch":"amd64","cpu_millis":2000,"memory_bytes":25276514304,"check_at":"2026-11-22T17:46:18.477+00:00","check_failures":0,"unreachable_reason":""},
{"id":"01a2045b-d7bb-749d-966a-d8b1bd303160","name":"unreachable","labels":{},"version":1,"created_at":"2026-11-22T17:44:17.595+00:00","updated_at":"2026-11-22T17:44:17.595+00:00","created_by":"token:demo-admin","engine":"docker","endpoint":"tcp://127.0.0.1:1","by_admin":true,"sealed":null,"key_id":null,"network_types":["mesh"],"taints":[],"schedulable":true,"gpus":[],"reachability":"unreachable","last_seen_at":null,"engine_version":null,"arch":null,"cpu_millis":null,"memory_bytes":null,"check_at":"2026-11-22T17:46:15.358+00:00","check_failures":7,"unreachable_reason":"The connection to its endpoint was refused."}]');
DELETE FROM "secrets";
INSERT INTO "secrets" SELECT * FROM json_populate_recordset(null::"secrets",  E'[{"id":"01a2045b-d7a1-74e5-89da-e5a9680f97d4","name":"web-password","labels":{},"version":1,"created_at":"2026-11-22T17:44:17.569+00:00","updated_at":"2026-11-22T17:44:17.569+00:00","created_by":"token:demo-admin","kind":"opaque","keys":["PASSWORD"],"sealed":"{\\"ciphertext\\":\\"gPr5pP0kKMQ49XjjZjaqSHvolIiIGldSHyj6\\",\\"iv\\":\\"ZpnNDIXd9y72SHXQ\\",\\"tag\\":\\"xHRHwEURYfR-OBBTTklCkg\\",\\"encrypted_key\\":\\"81jVcykDNjerWxjOIf72uI0M8R7C7qjitKI48FpFrLBicF_N6XjONg\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","values_version":1,"last_rotated_at":"2026-11-22T17:44:17.569+00:00"}]');
DELETE FROM "settings";
INSERT INTO "settings" SELECT * FROM json_populate_recordset(null::"settings",  E'[{"name":"hub","values":{"url": "http://127.0.0.1:45413", "sync_interval": 0},"sealed":"{\\"ciphertext\\":\\"a79QAsnF1T4XadZc8mgtP0MFImqVI3HesYKf6pXFnegt7DOwuhYCtqXwEmkI4VZGelgWLT9rLaaGrUU0nOTBGuDy8MgHfzPWf5LQr5K9AyE3mnPG2LSAd4UpP2fam6BbpVK8-Sc\\",\\"iv\\":\\"NMNz90Z9hRWpNY3W\\",\\"tag\\":\\"e4l7r29PEl0yhoTVwwm5vQ\\",\\"encrypted_key\\":\\"_fpkSCqSsh3IGnpspbmj5kP5Tyb6MrnFXTenRivsLFAzsssgQQUWgw\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","updated_at":"2026-11-22T17:44:17.114+00:00"}]');
DELETE FROM "signing_keys";
INSERT INTO "signing_keys" SELECT * FROM json_populate_recordset(null::"signing_keys",  E'[{"kid":"4c0edf59-a1e1-45a5-a018-ee8131e9540f","public_jwk":{"x": "rvNMytX0H6mDqjNnUPhsMoQWb4puMqzkULZRbGjjH7w", "crv": "Ed25519", "kty": "OKP"},"private_jwk":"{\\"ciphertext\\":\\"N4ZPJ_s3mx04K71lGo4hurl23BQFMY70yu8iTKIVpF-Sjj49-t0eYM9nkVifK0DZ4LCLnfvx4UF85HmnqvwSZNofvSZTdYBsyT0D4X3VvmLYRjEBt7onZ0nPdrKeWvAyMTaGjeBSGQ0LN0iPDa_rRq4rOuTb0DMy15vv_rZe8auy\\",\\"iv\\":\\"vrEuYoo1M06FB-DS\\",\\"tag\\":\\"TdsdSMa5mBFtM-wewntHsA\\",\\"encrypted_key\\":\\"ihIQnU6LKzITMQscATe_aQk_3kubB4LHWFb8nNuQXWeYPBcdQ1E3RA\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","created_at":"2026-11-22T17:44:12.894+00:00","retired_at":null}]');
DELETE FROM "tokens";
INSERT INTO "tokens" SELECT * FROM json_populate_recordset(null::"tokens", '[{"id":"01a2045b-cb4c-7129-a140-4d8a2da1f24f","name":"demo-operator","role":"operator","token_hash":"cbc47a9c30cae82637fa98283952e68b5a2b0be879e6433c984f4ab4462053cf","token_prefix":"svcm_2QotGJ9","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":null,"created_by":"command-line","created_by_user":null,"created_at":"2026-11-22T17:44:14.667+00:00"},
{"id":"01a2045b-cbc4-73d1-baef-6de71ff30ddb","name":"demo-admin","role":"admin","token_hash":"43d3cb461037e4abb61a2c7d333395eff7717275e46da5364a9495e5d8d789d6","token_prefix":"svcm_LmBTrT8","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":"2026-11-22T17:46:13.493+00:00","created_by":"command-line","created_by_user":null,"created_at":"2026-11-22T17:44:14.83+00:00"},
{"id":"01a2045b-cc6a-72d3-8345-3bec38c8cd98","name":"demo-viewer","role":"viewer","token_hash":"aae8319992827c132f3d87230882ce984e499e39f36af131c3fbd9f2a724378d","token_prefix":"svcm_jIWAfkz","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":null,"created_by":"command-line","created_by_user":null,"created_at":"2026-11-22T17:44:14.995+00:00"}]');
DELETE FROM "tombstones";
INSERT INTO "tombstones" SELECT * FROM json_populate_recordset(null::"tombstones", '[{"id":"01a2045d-0dd1-72c5-90e8-7030e79b0985","host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","cluster_id":null,"at":"2026-11-22T17:46:12.623+00:00"},
{"id":"01a2045d-0dd7-74ff-bcdd-0d0c0d17ee1c","host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","cluster_id":null,"at":"2026-11-22T17:46:12.623+00:00"}]');
DELETE FROM "users";
INSERT INTO "users" SELECT * FROM json_populate_recordset(null::"users", '[{"id":"01a2045d-9d1a-7775-80a6-78e2ce392a4d","source":"local","email":"local@example.test","name":"Local","role":"viewer","password_hash":"$argon2id$v=19$m=19456,t=2,p=1$idnPV2Aixv+9bzFwkQc0Qg$UdP/JUSTfu1zkrNX+kcfMDFuzUkafIwvJqRZq78fhUw","iss":null,"sub":null,"claims":null,"created_at":"2026-11-22T17:46:13.657+00:00","updated_at":"2026-11-22T17:46:13.657+00:00","last_sign_in_at":null,"removed_at":null}]');
DELETE FROM "volumes";
INSERT INTO "volumes" SELECT * FROM json_populate_recordset(null::"volumes", '[{"id":"01a2045b-dbf7-7424-9a35-7e3751491003","name":"web-data","labels":{},"version":1,"created_at":"2026-11-22T17:44:18.671+00:00","updated_at":"2026-11-22T17:44:18.671+00:00","created_by":"token:demo-admin","size":"10Gi","access_mode":"ReadWriteOnce","storage_class":null,"reclaim":"delete","host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","cluster_id":null,"deployment_id":"01a2045b-dbf3-712c-be12-c9a5534f53d3","phase":"bound","sent_to_engine":true},
{"id":"01a2045b-f03f-745f-a143-810d69b7cb16","name":"archive-data","labels":{},"version":1,"created_at":"2026-11-22T17:44:23.864+00:00","updated_at":"2026-11-22T17:44:23.864+00:00","created_by":"token:demo-admin","size":"10Gi","access_mode":"ReadWriteOnce","storage_class":null,"reclaim":"delete","host_id":"01a2045b-d7b2-7568-9540-357e8423dde8","cluster_id":null,"deployment_id":"01a2045b-f03d-77c8-976d-9ef3e1ceb8b9","phase":"bound","sent_to_engine":true}]');
DELETE FROM "workload_revisions";
INSERT INTO "workload_revisions" SELECT * FROM json_populate_recordset(null::"workload_revisions",  E'[{"workload_id":"01a2045b-dbf3-712c-be12-c71ef4057838","revision":1,"spec":{"env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "echo \\"$GREETING $PASSWORD\\" > /data/index.html; exec httpd -f -p 8080 -h /data"], "gpu_count": 0, "image_tag": "1", "env_schema": [], "image_name": "recorded/busybox", "cpu_request": "50m", "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []},"overrides":{},"secret_names":["web-password"],"template_id":"01a2045b-d746-720a-b7cb-5afd81163356","template_slug":"web","template_version":"1.0.0","template_hash":"98f44eac0e4f70a53fc9ed8f72a0985061f7eb848e4d904fe2c06b6bfb00fa51","min_tier":"free","created_at":"2026-11-22T17:44:18.671+00:00","created_by":"token:demo-admin"},
{"workload_id":"01a2045b-f03d-77c8-976d-9ba07996ceb8","revision":1,"spec":{"env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "echo \\"$GREETING $PASSWORD\\" > /data/index.html; exec httpd -f -p 8080 -h /data"], "gpu_count": 0, "image_tag": "1", "env_schema": [], "image_name": "recorded/busybox", "cpu_request": "50m", "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []},"overrides":{},"secret_names":["web-password"],"template_id":"01a2045b-d746-720a-b7cb-5afd81163356","template_slug":"web","template_version":"1.0.0","template_hash":"98f44eac0e4f70a53fc9ed8f72a0985061f7eb848e4d904fe2c06b6bfb00fa51","min_tier":"free","created_at":"2026-11-22T17:44:23.864+00:00","created_by":"token:demo-admin"},
{"workload_id":"01a2045d-0dd1-72c5-90e8-6d774115b12f","revision":1,"spec":{"env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "echo \\"$GREETING $PASSWORD\\" > /data/index.html; exec httpd -f -p 8080 -h /data"], "gpu_count": 0, "image_tag": "1", "env_schema": [], "image_name": "recorded/busybox", "cpu_request": "50m", "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []},"overrides":{},"secret_names":["web-password"],"template_id":"01a2045b-d746-720a-b7cb-5afd81163356","template_slug":"web","template_version":"1.0.0","template_hash":"98f44eac0e4f70a53fc9ed8f72a0985061f7eb848e4d904fe2c06b6bfb00fa51","min_tier":"free","created_at":"2026-11-22T17:45:36.975+00:00","created_by":"token:demo-admin"}]');
DELETE FROM "workloads";
INSERT INTO "workloads" SELECT * FROM json_populate_recordset(null::"workloads", '[{"id":"01a2045b-dbf3-712c-be12-c71ef4057838","name":"web","labels":{},"version":1,"created_at":"2026-11-22T17:44:18.671+00:00","updated_at":"2026-11-22T17:44:18.671+00:00","created_by":"token:demo-admin","revision":1},
{"id":"01a2045b-f03d-77c8-976d-9ba07996ceb8","name":"archive","labels":{},"version":1,"created_at":"2026-11-22T17:44:23.864+00:00","updated_at":"2026-11-22T17:44:23.864+00:00","created_by":"token:demo-admin","revision":1},
{"id":"01a2045d-0dd1-72c5-90e8-6d774115b12f","name":"temporary","labels":{},"version":1,"created_at":"2026-11-22T17:45:36.975+00:00","updated_at":"2026-11-22T17:45:36.975+00:00","created_by":"token:demo-admin","revision":1}]');
