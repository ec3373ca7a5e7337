-- The database of the fleet 0.2.0, recorded by infra/local/release/record.mjs.
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

-- AlterTable
ALTER TABLE "deployments" ADD COLUMN "deletes_workload" BOOLEAN NOT NULL DEFAULT false;

-- A workload that was created in the same transaction as its deployment, by the same caller and with the same name, was created from
-- a template by that deployment. All other existing workloads are kept.
UPDATE "deployments" d SET "deletes_workload" = true FROM "workloads" w
WHERE w.id = d.workload_id AND w.name = d.name AND w.created_at = d.created_at AND w.created_by = d.created_by;

-- AlterTable
ALTER TABLE "catalog_sync" ADD COLUMN     "cursor_reader" TEXT,
ADD COLUMN     "full_walk_due" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "catalog_skipped" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "entry_id" UUID,
    "slug" TEXT,
    "reason" TEXT NOT NULL,
    "cursor" TEXT,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "fetched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "catalog_skipped_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "catalog_skipped_kind_entry_id_key" ON "catalog_skipped"("kind", "entry_id");

-- AlterTable
ALTER TABLE "sign_in_failures" ADD COLUMN     "forgiven_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "sign_in_networks" (
    "subject" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_networks_pkey" PRIMARY KEY ("subject")
);

-- CreateIndex
CREATE INDEX "sign_in_networks_account_last_at_idx" ON "sign_in_networks"("account", "last_at");

-- CreateIndex
CREATE INDEX "sign_in_networks_last_at_idx" ON "sign_in_networks"("last_at");

-- AlterTable
ALTER TABLE "secrets" ADD COLUMN "server" TEXT;

-- Existing deployments, and those that a fleet of version 0.1.0 creates, have the defaults of that version.
ALTER TABLE "deployments" ADD COLUMN "defaults_version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "bindings" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "sealed_values" (
    "id" UUID NOT NULL,
    "deployment_id" UUID,
    "workload_id" UUID,
    "variable" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "sealed_values_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sealed_values_deployment_id_idx" ON "sealed_values"("deployment_id");

-- CreateIndex
CREATE INDEX "sealed_values_workload_id_idx" ON "sealed_values"("workload_id");

-- CreateIndex
CREATE INDEX "deployments_bindings_idx" ON "deployments" USING GIN ("bindings");

-- AddForeignKey
ALTER TABLE "sealed_values" ADD CONSTRAINT "sealed_values_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sealed_values" ADD CONSTRAINT "sealed_values_workload_id_fkey" FOREIGN KEY ("workload_id") REFERENCES "workloads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Plain values of secret variables in `env` of a revision are replaced by references to sealed values. Nothing else changes.
CREATE OR REPLACE FUNCTION workload_revision_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('fleet.seals_values', true) = 'on'
    AND to_jsonb(NEW) - 'spec' - 'overrides' = to_jsonb(OLD) - 'spec' - 'overrides'
    AND NEW.spec - 'env' = OLD.spec - 'env' AND NEW.overrides - 'env' = OLD.overrides - 'env' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'revisions of workloads cannot be changed' USING ERRCODE = 'insufficient_privilege';
END $$;

-- AlterTable
ALTER TABLE "hosts" ADD COLUMN     "identity" TEXT;

-- AlterTable
ALTER TABLE "clusters" ADD COLUMN     "identity" TEXT;

-- AlterTable
ALTER TABLE "nodes" ADD COLUMN     "identity" TEXT;

-- CreateIndex
CREATE INDEX "hosts_identity_idx" ON "hosts"("identity");

-- CreateIndex
CREATE INDEX "clusters_identity_idx" ON "clusters"("identity");

-- CreateTable
CREATE TABLE "orphans" (
    "target_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "host_id" UUID,
    "cluster_id" UUID,
    "kind" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "orphans_pkey" PRIMARY KEY ("target_id","id")
);

-- CreateIndex
CREATE INDEX "orphans_host_id_idx" ON "orphans"("host_id");

-- CreateIndex
CREATE INDEX "orphans_cluster_id_idx" ON "orphans"("cluster_id");

-- AddForeignKey
ALTER TABLE "orphans" ADD CONSTRAINT "orphans_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "orphans" ADD CONSTRAINT "orphans_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "source" TEXT;

-- CreateTable
CREATE TABLE "schema_info" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "oldest_migration" TEXT NOT NULL,
    "audit_retention_enforced" BOOLEAN NOT NULL DEFAULT false,
    "audit_retention_days" INTEGER,

    CONSTRAINT "schema_info_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "schema_info" ADD CONSTRAINT "schema_info_id_check" CHECK ("id" = 1);
INSERT INTO "schema_info" ("oldest_migration") VALUES ('00000000000000_initial');

-- Deletes only entries that are older than the retention, if the owner of the database has stored one. The caller can be a role that
-- has no right to delete entries.
CREATE OR REPLACE FUNCTION audit_forget(before timestamptz, entry uuid) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  deleted integer;
  permitted timestamptz;
BEGIN
  SELECT CASE WHEN audit_retention_enforced THEN coalesce(now() - make_interval(days => audit_retention_days), '-infinity')
    ELSE before END INTO STRICT permitted FROM schema_info;
  before := least(before, permitted);
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
-- Temporary tables of the caller come last. By default, they would come first.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION audit_forget(timestamptz, uuid) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;

-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "default_memory_bytes" BIGINT,
ADD COLUMN     "default_processes" INTEGER;

-- CreateEnum
CREATE TYPE "ServiceType" AS ENUM ('ClusterIP', 'NodePort', 'LoadBalancer');

-- AlterTable
-- Existing ports, and those that a fleet of version 0.1.0 allocates, have no addresses: they bind to all interfaces.
ALTER TABLE "allocated_ports" ADD COLUMN     "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "clusters" ADD COLUMN     "public_service_type" "ServiceType" NOT NULL DEFAULT 'ClusterIP';

-- AlterTable
ALTER TABLE "hosts" ADD COLUMN     "addresses" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "verified_addresses" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- Indexes for the filters and sort fields of lists whose length grows with the number of deployments.
-- Names are sorted byte by byte, in every locale.

-- CreateIndex
CREATE INDEX "deployments_phase_idx" ON "deployments"("phase");

-- CreateIndex
CREATE INDEX "deployments_updated_at_id_idx" ON "deployments"("updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "deployments_name_idx" ON "deployments"("name" COLLATE "C");

-- CreateIndex
CREATE INDEX "workloads_updated_at_id_idx" ON "workloads"("updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "workloads_name_idx" ON "workloads"("name" COLLATE "C");

-- CreateIndex
CREATE INDEX "workload_revisions_template_slug_idx" ON "workload_revisions"("template_slug");

-- CreateIndex
CREATE INDEX "workload_revisions_template_id_idx" ON "workload_revisions"("template_id");

-- CreateIndex
CREATE INDEX "volumes_updated_at_id_idx" ON "volumes"("updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "volumes_name_idx" ON "volumes"("name" COLLATE "C");

-- A worker finds the targets with deployments that are due with the existing index on "due_at". It reads those of each target from these
-- indexes, and the deployments in progress from the last one.
-- CreateIndex
CREATE INDEX "deployments_host_id_due_at_idx" ON "deployments"("host_id", "due_at");

-- CreateIndex
CREATE INDEX "deployments_cluster_id_due_at_idx" ON "deployments"("cluster_id", "due_at");

-- CreateIndex
CREATE INDEX "deployments_lease_until_idx" ON "deployments"("lease_until");

-- DropIndex
DROP INDEX "deployments_host_id_idx";

-- DropIndex
DROP INDEX "deployments_cluster_id_idx";

-- Wakes the workers of all replicas when a deployment becomes due.
CREATE FUNCTION deployment_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY deployment_due;
  RETURN NULL;
END $$;
CREATE TRIGGER deployment_due_inserted AFTER INSERT ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now()) EXECUTE FUNCTION deployment_due();
CREATE TRIGGER deployment_due_updated AFTER UPDATE OF "due_at" ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now() AND NEW."due_at" IS DISTINCT FROM OLD."due_at") EXECUTE FUNCTION deployment_due();

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

-- "due_at" is rounded to milliseconds, so that the current time is stored up to half a millisecond later. The conditions of these
-- triggers compared it with the exact time, and half of the deployments that became due did not notify the workers.
CREATE OR REPLACE TRIGGER deployment_due_inserted AFTER INSERT ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now() + interval '1 millisecond') EXECUTE FUNCTION deployment_due();
CREATE OR REPLACE TRIGGER deployment_due_updated AFTER UPDATE OF "due_at" ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now() + interval '1 millisecond' AND NEW."due_at" IS DISTINCT FROM OLD."due_at") EXECUTE FUNCTION deployment_due();

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

-- The tool of a request to the MCP endpoint, and whether an entry is of an operation that such a request performed.
ALTER TABLE "audit_entries" ADD COLUMN "tool" TEXT,
ADD COLUMN "part" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "browser_hash" TEXT,
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "source" TEXT,
ADD COLUMN     "user_agent" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "sessions_browser_hash_key" ON "sessions"("browser_hash");

-- CreateTable
CREATE TABLE "invitations" (
    "user_id" UUID NOT NULL,
    "code_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitations_code_hash_key" ON "invitations"("code_hash");

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A local user who has not accepted an invitation has no password.
ALTER TABLE "users" DROP CONSTRAINT "users_source_check";
ALTER TABLE "users" ADD CONSTRAINT "users_source_check" CHECK (CASE source
    WHEN 'local' THEN email IS NOT NULL AND role IS NOT NULL AND iss IS NULL AND removed_at IS NULL
    ELSE iss IS NOT NULL AND sub IS NOT NULL AND claims IS NOT NULL AND role IS NULL AND password_hash IS NULL
  END);

CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);
DELETE FROM "_prisma_migrations";
INSERT INTO "_prisma_migrations" SELECT * FROM json_populate_recordset(null::"_prisma_migrations", '[{"id":"122e9e34-ec30-4e6b-b4d7-7f4879767add","checksum":"6426d07b9b9efd3d77fa17f46dda9e4fbf8cf8cb1c8b2339eaa4f2a7eec2eede","finished_at":"2026-11-25T05:00:34.477797+00:00","migration_name":"20261122223500_audit_source","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.476876+00:00","applied_steps_count":1},
{"id":"13b9d6c4-bf8b-4013-a5e0-207f8a985c11","checksum":"c5e4f7f762945ab10db8cd44773fbe87f3b71396c403e829cf870e39791739d4","finished_at":"2026-11-25T05:00:34.465751+00:00","migration_name":"20261122220000_defaults_version","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.464711+00:00","applied_steps_count":1},
{"id":"1a617248-fae5-47ce-a866-9c8e22e83f3a","checksum":"708d15b9fef9107bf02e6c60f280c905c188cecfcb69b48a763a4c0486a8d00e","finished_at":"2026-11-25T05:00:34.515085+00:00","migration_name":"20261123150000_audit_tools","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.514145+00:00","applied_steps_count":1},
{"id":"1f4f66a9-0e31-4adb-ab36-f41275db418a","checksum":"a13b359ffad2b47bc35df32e908054478c308a7d9c2c13a14ba9271c9d96b8f2","finished_at":"2026-11-25T05:00:34.507027+00:00","migration_name":"20261123110000_placement_targets","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.502918+00:00","applied_steps_count":1},
{"id":"2de16e7d-f9d4-4605-a429-609fc0c45b43","checksum":"f07b77a328d12701d6482a2cca46add8e6d23d738920c7672c75a3514b629443","finished_at":"2026-11-25T05:00:34.480417+00:00","migration_name":"20261122223510_schema_info","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.478301+00:00","applied_steps_count":1},
{"id":"35733fa5-ecaf-4bba-ad5c-8ceee78fe91d","checksum":"f6106529368a3509e3bbf2ee48f1974ac8d031914aff70fdd614ef18a472af15","finished_at":"2026-11-25T05:00:34.464214+00:00","migration_name":"20261122184000_bind_registry_secrets","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.463316+00:00","applied_steps_count":1},
{"id":"45297c13-bd83-4397-8e63-b3a3faba40da","checksum":"ebc2d6bbc08f2195cd707820e6da5b36d47fcf726bc68811521a43b0a811fa72","finished_at":"2026-11-25T05:00:34.47255+00:00","migration_name":"20261122222501_engine_identity","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.47074+00:00","applied_steps_count":1},
{"id":"537470a5-e6c6-49b4-aa5a-1e34d25820b0","checksum":"1134df5bb2a4636018543ee8c32af6c71ffda52190fd40f8d0d251e84ddc2080","finished_at":"2026-11-25T05:00:34.51668+00:00","migration_name":"20261123160000_browser_sessions","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.515622+00:00","applied_steps_count":1},
{"id":"5d9ecd14-b657-4f15-a42d-1c6ce83af28c","checksum":"bc0397085bd382358284e36791e1811701e041e7cd38fa18c52b3cd4df750cd7","finished_at":"2026-11-25T05:00:34.508781+00:00","migration_name":"20261123113000_due_notification","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.507781+00:00","applied_steps_count":1},
{"id":"69c87ecc-171a-467a-aeb7-86654c654390","checksum":"84d9e450bb850f587ebd380cf2beb97ca041eb43ab946b3bbaaa8c7827d778e7","finished_at":"2026-11-25T05:00:34.502241+00:00","migration_name":"20261123100000_changes","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.492795+00:00","applied_steps_count":1},
{"id":"75dbdb02-dc2c-4494-8691-770e01829f72","checksum":"413e6ff1d0a63356519b938cb78a1e3dbb1ef30a0f7b41808b095085677a6c47","finished_at":"2026-11-25T05:00:34.476226+00:00","migration_name":"20261122222502_orphans","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.473099+00:00","applied_steps_count":1},
{"id":"76cd4e09-fa0c-420e-9c32-257550f21512","checksum":"b34c6bee7fd9775e72887725eeaa859654dcd17fc9f7263c8003b98bc300020a","finished_at":"2026-11-25T05:00:34.456132+00:00","migration_name":"20261122181500_delete_created_workloads","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.452863+00:00","applied_steps_count":1},
{"id":"8113a2cf-be7c-43b2-821c-75bb0607a4c9","checksum":"3bf91d5fd91b21a77a9cc520f80ef32a81b03b90af13ada3e4bf27f7921731b4","finished_at":"2026-11-25T05:00:34.459829+00:00","migration_name":"20261122183000_catalog_skipped","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.45675+00:00","applied_steps_count":1},
{"id":"89463116-5645-4a27-a920-5f5636e463c9","checksum":"863e6d5b832a8049c5a7cb82b02596b8eb7070e7722245744698356b0c734c27","finished_at":"2026-11-25T05:00:34.513122+00:00","migration_name":"20261123120000_events","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.50945+00:00","applied_steps_count":1},
{"id":"8d3e3076-c1c4-47dc-a13d-02555f74bcc0","checksum":"a23d1e07ca6cc753cbb8c6c589fe001de311e2b5858a8a76a15a434b1f7263e7","finished_at":"2026-11-25T05:00:34.491961+00:00","migration_name":"20261123090000_due_by_target","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.489392+00:00","applied_steps_count":1},
{"id":"901853cc-5d0c-4c6a-ba5e-57b63f34dd2b","checksum":"478b4634947f45e8f0153193e8aaf1a67febe30fc38f311e2edb4b09dbd65dd9","finished_at":"2026-11-25T05:00:34.48183+00:00","migration_name":"20261122224500_default_limits","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.480977+00:00","applied_steps_count":1},
{"id":"9f7f4320-12a0-4708-beac-922275b23652","checksum":"9f6c1ae3fd2a7a2ca3181743b3665979f346335e5f0afe90210a42b049fde0e6","finished_at":"2026-11-25T05:00:34.488635+00:00","migration_name":"20261122231000_list_indexes","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.485143+00:00","applied_steps_count":1},
{"id":"a086a2fc-80a0-40c9-a7cb-57d73493fe68","checksum":"2d439c584581c3ad2f8d5494f569d6239c33e52fcb29d812025fae67a1dd373f","finished_at":"2026-11-25T05:00:34.450271+00:00","migration_name":"00000000000000_initial","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.38587+00:00","applied_steps_count":1},
{"id":"dc0e49bd-a596-4dcb-a21e-41dc6f372bee","checksum":"2b7eb7c96cdc1719afd297e27d2f77e9c6ca5b8d9819d36ff74ebef5eb13e975","finished_at":"2026-11-25T05:00:34.520254+00:00","migration_name":"20261123160100_invitations","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.517274+00:00","applied_steps_count":1},
{"id":"dcc118a8-e9d4-4791-a20f-6f3307fd6fb2","checksum":"08ec5a7029832837757faddb197f95b9e2dfcd3d76ca2fb99a4c5b24092c232a","finished_at":"2026-11-25T05:00:34.470093+00:00","migration_name":"20261122221500_seal_variables","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.466261+00:00","applied_steps_count":1},
{"id":"f291f6d5-a646-4fd3-aa3d-b3c2bd90248f","checksum":"80b2dfc2f15217d9ab40f18f43629ace05a3b7a5ec519722bb79549cda1c0cfe","finished_at":"2026-11-25T05:00:34.484445+00:00","migration_name":"20261122225500_network_addresses","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.48242+00:00","applied_steps_count":1},
{"id":"f4c5e24e-3f81-443f-a6f8-cd8591603940","checksum":"895b0d286ee5e7f7a94868c4260031a707b97b439320f1342218514f5811faf2","finished_at":"2026-11-25T05:00:34.462715+00:00","migration_name":"20261122183000_sign_in_limits","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:34.460469+00:00","applied_steps_count":1}]');
DELETE FROM "allocated_ports";
INSERT INTO "allocated_ports" SELECT * FROM json_populate_recordset(null::"allocated_ports", '[{"host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","protocol":"TCP","host_port":26229,"deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","ordinal":0,"container_port":8080,"addresses":["127.0.0.1"]},
{"host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","protocol":"TCP","host_port":26230,"deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","ordinal":0,"container_port":8080,"addresses":["127.0.0.1"]},
{"host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","protocol":"TCP","host_port":26231,"deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","ordinal":1,"container_port":8080,"addresses":["127.0.0.1"]}]');
DELETE FROM "attachments";
INSERT INTO "attachments" SELECT * FROM json_populate_recordset(null::"attachments", '[{"deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","mount":"data","volume_id":"01a21113-c62f-7604-9d22-fd10910d12f9"},
{"deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","mount":"data","volume_id":"01a21113-da51-76ef-931c-b01ea38dc6ee"}]');
DELETE FROM "audit_entries";
INSERT INTO "audit_entries" SELECT * FROM json_populate_recordset(null::"audit_entries", '[{"id":"01a21113-bce3-72b2-be32-f249aa39b414","at":"2026-11-25T05:00:35.979+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"4aa2765f-503c-404c-9dc3-22a18d0f4fbb","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-bf7a-777e-b808-e54ee46730bc","at":"2026-11-25T05:00:36.617+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"PUT","path":"/api/v1/settings/hub","status":200,"aborted":false,"request_id":"e6876b23-5460-4b61-86f6-20857b5409a0","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-bf8e-72ff-b740-a304d47a80ef","at":"2026-11-25T05:00:36.684+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"c2d0116a-5b92-4904-a65e-9478e63b7a02","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-bfe0-74d0-a7b8-f3c27c11ba3e","at":"2026-11-25T05:00:36.762+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"07c244f4-1b4e-48df-9264-4731c6aa7382","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c02d-7350-8d06-c8e83b4d6cc7","at":"2026-11-25T05:00:36.831+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"a249d39d-7cfd-414a-b1a8-819ab3099222","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c06c-7232-a2c9-b135ef323f7e","at":"2026-11-25T05:00:36.885+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"e2e93eec-5045-4b55-9ac5-af3c03bf5559","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c098-751c-b1ff-136e84fbf957","at":"2026-11-25T05:00:36.912+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"7cd6ce58-1231-473a-b42c-b8900b2a58cc","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c0d1-7660-bf28-00536b9e671a","at":"2026-11-25T05:00:36.99+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/catalog/sync","status":200,"aborted":false,"request_id":"c5ae4e5b-01ca-4f83-8c89-c22bb6ce1ddd","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c102-77c9-90ca-ae5f3a0be999","at":"2026-11-25T05:00:37.012+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/secrets","status":201,"aborted":false,"request_id":"90a981bf-cce4-468f-aebc-05d569a140cc","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c119-7085-acc9-aeb5c993e272","at":"2026-11-25T05:00:37.182+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/hosts","status":201,"aborted":false,"request_id":"00cada99-225d-4d5f-9e9e-79a9eab764b3","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c1c2-75cd-bd6e-f50966f83dd2","at":"2026-11-25T05:00:37.2+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/hosts","status":201,"aborted":false,"request_id":"7a44d099-ab4f-4485-9867-9e522629cb6c","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c1d4-73dc-9ae0-ea11294989a8","at":"2026-11-25T05:00:37.283+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/clusters","status":201,"aborted":false,"request_id":"be3fa9b6-f84b-451f-8a4f-124034382d9d","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c227-7796-907e-c81a5cbc60d9","at":"2026-11-25T05:00:37.293+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/hosts/01a21113-c11c-762c-ada1-ea1d72efa875","status":200,"aborted":false,"request_id":"334d73b3-df45-4a74-82ff-a1162116c97f","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c618-77f1-94b4-53c8d491c2a3","at":"2026-11-25T05:00:38.302+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/hosts/01a21113-c11c-762c-ada1-ea1d72efa875","status":200,"aborted":false,"request_id":"a1c8b627-30f0-47c6-8b1f-112574353d7e","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c621-7519-9658-24c33dedb056","at":"2026-11-25T05:00:38.365+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments","status":201,"aborted":false,"request_id":"34146d9d-23b9-4ef3-b402-956a8b6c346b","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-c671-73c4-8c04-f6e9580c04fc","at":"2026-11-25T05:00:38.397+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"4532c6a6-367e-4086-90d4-60d9bdc1e220","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-ca70-7428-8d1e-0f91a17c5cba","at":"2026-11-25T05:00:39.417+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"a4161cad-74aa-460c-a493-1ceb4feb6f86","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-ce64-7490-bca5-c70997783e67","at":"2026-11-25T05:00:40.427+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"62fe2706-4297-43e7-aba0-12296b0d446f","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-d258-72d1-b033-d12c96d18448","at":"2026-11-25T05:00:41.437+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"c173b5aa-6f38-4b02-a32e-bb7bceeaaf4f","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-d648-7729-965d-5dab04a8b2ca","at":"2026-11-25T05:00:42.445+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"480a6461-a7b2-44fd-987a-57afc813e477","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-da39-77f0-a73e-8aaa8298bc10","at":"2026-11-25T05:00:43.466+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"2ac07bda-eaba-47e5-9bf5-f464e4eebf07","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-da4f-718d-be5a-1a1937216652","at":"2026-11-25T05:00:43.481+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/storage","status":201,"aborted":false,"request_id":"63e1bcdb-dbe4-4442-b1f4-46fb272ef9d1","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-da60-761f-baae-69862e7c832b","at":"2026-11-25T05:00:43.533+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments","status":201,"aborted":false,"request_id":"1cbf6502-2981-41d0-b25a-4b0a7275d495","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-da93-77f4-9c9d-4851388f7683","at":"2026-11-25T05:00:43.543+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"223ba633-b935-49f6-b89d-39015344a38b","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-de84-7001-92ef-8209b6ccd63b","at":"2026-11-25T05:00:44.554+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"ab544a0e-8bac-4a9e-84ac-81f7cbc3bbaf","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-e27a-7485-b473-e1dd1ecd72fb","at":"2026-11-25T05:00:45.567+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"63122d43-c181-4141-ab62-72e61fda9895","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-e66b-71bf-b74a-eb9d74b900de","at":"2026-11-25T05:00:46.578+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"0063dd1b-9cfa-4a08-b521-9c9e77b42ceb","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-ea5f-70bd-bd65-9b0501b2fbb0","at":"2026-11-25T05:00:47.587+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"d10b1b3a-b4d4-441b-9507-4e33cb12c87a","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-ee50-7098-9c79-3cb8ba9cd155","at":"2026-11-25T05:00:48.598+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"58453df3-2510-4930-b191-13875f49e68a","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-ee5a-75d0-b6c0-a13e22f6f92c","at":"2026-11-25T05:00:48.628+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718/stop","status":200,"aborted":false,"request_id":"35e0d192-eb3c-45dd-a7e8-e0120e240ba3","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-ee78-739f-b8d1-2e6b46e7d0a6","at":"2026-11-25T05:00:48.636+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"0e44a6fc-abfc-4258-b28f-ddf9f8c8800b","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-f26a-76fa-805d-f5fa6fd3c210","at":"2026-11-25T05:00:49.646+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-da65-7227-b692-60aff2d4a718","status":200,"aborted":false,"request_id":"7f93ea32-46a5-4b48-b214-db4f3ba03c57","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-f270-73fc-973f-3e11dbb0e53a","at":"2026-11-25T05:00:49.675+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1/restart","status":200,"aborted":false,"request_id":"de204f4a-9a40-4711-acae-17b81c40d7fc","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-f28f-72b2-b367-2c889e5974fd","at":"2026-11-25T05:00:49.682+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"1d768332-83c2-44e2-8653-1fdac04baf2d","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-f67f-75ca-99b9-d959aae57871","at":"2026-11-25T05:00:50.692+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"f87ca7f5-826c-43ef-aef5-badbf70812db","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-fa6f-73d0-8e66-d371eae5b0fc","at":"2026-11-25T05:00:51.7+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"f18ecdaa-6502-4600-996e-4286d752066f","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21113-fe5e-714e-a2f0-82cd7c3e5820","at":"2026-11-25T05:00:52.706+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"e0ca80fa-9e29-4fe5-8bb4-614b1b4f0cf8","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-024d-7514-bc97-be4c46e873b6","at":"2026-11-25T05:00:53.715+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21113-c628-72da-b0e0-d611ecb2a6b1","status":200,"aborted":false,"request_id":"84c91e6b-ba54-46c9-8fad-787d7af235ea","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-0258-708b-b4b3-6cf355d17925","at":"2026-11-25T05:00:53.748+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/deployments","status":201,"aborted":false,"request_id":"1dcc6808-44fc-4b33-85a0-8629dad84ea4","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-0279-719b-8677-780b07d56c69","at":"2026-11-25T05:00:53.758+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"8b5cace4-802c-44bc-8464-60f088f3d71a","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-066a-738f-9162-317283f92883","at":"2026-11-25T05:00:54.768+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"0d61ffcc-7c96-4fd8-bd33-2bb5def99343","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-0a5c-77e9-b3ee-2513ffdf6e9e","at":"2026-11-25T05:00:55.777+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"e8babcbf-6174-4312-8d98-afd3f9fd86a1","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-0e4d-714a-b8d1-2b6138134ef3","at":"2026-11-25T05:00:56.787+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"c7952cb8-9c6c-46ab-8ea1-9a79c9ac62da","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-123d-767f-b500-252dccdef083","at":"2026-11-25T05:00:57.794+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"e128dd10-88da-4883-b366-e7a3badff35e","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-1245-75d3-a253-2c998432982f","at":"2026-11-25T05:00:57.808+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"DELETE","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"dd5cb0db-e53e-4540-b700-053c28c46285","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-1257-706f-9be6-45ce1a2320da","at":"2026-11-25T05:00:57.819+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":200,"aborted":false,"request_id":"caf21c4c-f60d-4474-826d-f93ef3d6957b","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-1648-7161-b03d-db1c37cdb1d4","at":"2026-11-25T05:00:58.831+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"GET","path":"/api/v1/deployments/01a21114-025b-731c-93f2-bbc54e18633e","status":404,"aborted":false,"request_id":"236adad9-ed81-4d37-90ca-211eb5dcfb67","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-1653-73fb-a285-de2cbea02d05","at":"2026-11-25T05:00:58.912+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/users","status":201,"aborted":false,"request_id":"cce181a3-611e-4d35-83f3-0e902750319d","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-16a3-7366-a663-10abd9aa0d08","at":"2026-11-25T05:00:58.922+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/users","status":201,"aborted":false,"request_id":"a031b255-1355-4b70-8342-c290cfd9f8f1","source":"127.0.0.1","tool":null,"part":false},
{"id":"01a21114-16ae-73d8-a810-6da1373b2e9b","at":"2026-11-25T05:00:58.935+00:00","token_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","user_id":null,"actor":"token:demo-admin","method":"POST","path":"/api/v1/users/01a21114-16a5-7085-9ff8-1be976e069e1/invitation","status":201,"aborted":false,"request_id":"69edcbf4-5f26-4024-a7ed-db1d9c85ad38","source":"127.0.0.1","tool":null,"part":false}]');
DELETE FROM "catalog_categories";
INSERT INTO "catalog_categories" SELECT * FROM json_populate_recordset(null::"catalog_categories", '[{"id":"01a21113-b36d-73d8-8422-6681e85ceb63","sort_order":10,"sort_name":"inference","document":{"id": "01a21113-b36d-73d8-8422-6681e85ceb63", "icon": "cpu", "name": "Inference", "slug": "inference", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 10, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Servers that answer requests with language and embedding models, and the gateways and chat pages in front of them.", "template_count": 1}},
{"id":"01a21113-b374-72ca-878e-61e55819af1d","sort_order":20,"sort_name":"notebooks and editors","document":{"id": "01a21113-b374-72ca-878e-61e55819af1d", "icon": "notebook", "name": "Notebooks and editors", "slug": "notebooks", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 20, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Interactive workspaces in the browser for Python, R and general development.", "template_count": 0}},
{"id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","sort_order":30,"sort_name":"vision and speech","document":{"id": "01a21113-b37b-71f8-9dbc-9e982c6804c0", "icon": "image", "name": "Vision and speech", "slug": "vision-and-speech", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 30, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Image generation, speech recognition and speech synthesis.", "template_count": 0}},
{"id":"01a21113-b37d-74be-863a-c60b19bfb873","sort_order":40,"sort_name":"vector stores","document":{"id": "01a21113-b37d-74be-863a-c60b19bfb873", "icon": "vector", "name": "Vector stores", "slug": "vector-stores", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 40, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Databases that find the nearest neighbours of an embedding.", "template_count": 0}},
{"id":"01a21113-b382-7618-a7a8-d2e12f77e57f","sort_order":50,"sort_name":"databases","document":{"id": "01a21113-b382-7618-a7a8-d2e12f77e57f", "icon": "database", "name": "Databases", "slug": "databases", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 50, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Relational, document and analytical databases.", "template_count": 1}},
{"id":"01a21113-b387-731c-a140-2d1460527c18","sort_order":60,"sort_name":"caches and queues","document":{"id": "01a21113-b387-731c-a140-2d1460527c18", "icon": "layers", "name": "Caches and queues", "slug": "caches-and-queues", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 60, "updated_at": "2026-11-25T05:00:33.482Z", "description": "In-memory stores and message brokers that connect the parts of an application.", "template_count": 2}},
{"id":"01a21113-b388-72b1-a6c0-0683558fc674","sort_order":70,"sort_name":"storage and backup","document":{"id": "01a21113-b388-72b1-a6c0-0683558fc674", "icon": "archive", "name": "Storage and backup", "slug": "storage", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 70, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Object storage, image registries, and jobs that copy or back up volumes.", "template_count": 1}},
{"id":"01a21113-b389-779a-b4b7-000ccccc3ebd","sort_order":80,"sort_name":"observability","document":{"id": "01a21113-b389-779a-b4b7-000ccccc3ebd", "icon": "chart", "name": "Observability", "slug": "observability", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 80, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Metrics, logs, traces, dashboards and uptime checks.", "template_count": 0}},
{"id":"01a21113-b38b-774f-bb9a-eb98c63a2314","sort_order":90,"sort_name":"ml ops and ci","document":{"id": "01a21113-b38b-774f-bb9a-eb98c63a2314", "icon": "workflow", "name": "ML ops and CI", "slug": "ml-ops-and-ci", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 90, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Experiment tracking, labelling, training jobs, workflow schedulers and CI runners.", "template_count": 0}},
{"id":"01a21113-b390-701c-8e54-754489331b23","sort_order":95,"sort_name":"identity","document":{"id": "01a21113-b390-701c-8e54-754489331b23", "icon": "key", "name": "Identity", "slug": "identity", "created_at": "2026-11-25T05:00:33.482Z", "is_private": false, "sort_order": 95, "updated_at": "2026-11-25T05:00:33.482Z", "description": "Identity providers that sign users in for other applications.", "template_count": 0}},
{"id":"01a21113-bf34-717c-9001-fcf05a2d0f60","sort_order":0,"sort_name":"internal","document":{"id": "01a21113-bf34-717c-9001-fcf05a2d0f60", "icon": "", "name": "Internal", "slug": "internal", "created_at": "2026-11-25T05:00:36.530Z", "is_private": true, "sort_order": 0, "updated_at": "2026-11-25T05:00:36.530Z", "description": "", "template_count": 1}}]');
DELETE FROM "catalog_sync";
INSERT INTO "catalog_sync" SELECT * FROM json_populate_recordset(null::"catalog_sync", '[{"id":1,"source":"9FtGzqx71Pl4AdGCifNxS6SZERzv9OCre_FT5On_USE","cursor":"eyJ2IjoxLCJvZiI6IjAxYTIxMTEzLWIyNjItNzQyYy1hYzM2LTFlNjE3MjAxNzU5ZSIsInNlZW4iOnsiYXQiOiIyMDI2LTExLTI1VDA1OjAwOjM2LjkyOVoiLCJjb21taXQiOiJmNmM4NjA1ZC1jOTQ0LTQ4MjItOTM2Ny0zZjBmYzNiM2M2MTcifSwicG9zaXRpb24iOnsiYXQiOiIyMDI2LTExLTI1VDA1OjAwOjM2LjkyOVoifSwiY2hlY2tlZCI6IjIwMjYtMTEtMjVUMDU6MDA6MzYuOTI5WiJ9","checked_at":"2026-11-25T05:00:36.929+00:00","generation":2,"in_full_walk":false,"found_empty":false,"organization":{"id": "01a21113-b262-742c-ac36-1e617201759e", "name": "Demo organization", "slug": "demo", "tier": "pro", "status": "active"},"last_success_at":"2026-11-25T05:00:36.978+00:00","last_full":false,"last_updated":1,"last_removed":0,"stale_since":null,"last_failure_at":null,"failure_kind":null,"failure_reason":null,"failures":0,"next_at":null,"lease_owner":null,"lease_until":null,"cursor_reader":"AnMr1A3H42uz_6GkcV_G5J_3Yj6m0CasabxHJBSyR1I","full_walk_due":false}]');
DELETE FROM "catalog_templates";
INSERT INTO "catalog_templates" SELECT * FROM json_populate_recordset(null::"catalog_templates",  E'[{"id":"01a21113-b421-70dc-809f-5399df7365d0","slug":"comfyui","category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","category_slug":"internal","is_featured":true,"tags":["image","diffusion","stable-diffusion","flux","gpu"],"search_text":"comfyui\\u001fnode editor for image and video generation with stable diffusion, flux and others, in a community image for cuda 12.6.","sort_name":"comfyui","updated_at":"2026-11-25T05:00:36.569+00:00","generation":2,"document":{"id": "01a21113-b421-70dc-809f-5399df7365d0", "env": [], "kind": "service", "name": "ComfyUI", "slug": "comfyui", "tags": ["image", "diffusion", "stable-diffusion", "flux", "gpu"], "ports": [{"protocol": "TCP", "containerPort": 8188}], "command": [], "version": "1.2.0", "icon_url": null, "min_tier": "free", "gpu_count": 1, "image_tag": "cu126-slim", "is_public": true, "created_at": "2026-11-25T05:00:33.482Z", "env_schema": [{"name": "CLI_ARGS", "required": false, "description": "Arguments for ComfyUI, for example --lowvram or --fast.", "default_value": ""}, {"name": "HF_TOKEN", "required": false, "description": "Hugging Face token for gated model downloads. [secret]", "default_value": ""}], "image_name": "yanwk/comfyui-boot", "updated_at": "2026-11-25T05:00:36.569Z", "category_id": "01a21113-bf34-717c-9001-fcf05a2d0f60", "cpu_request": "4", "description": "Node editor for image and video generation with Stable Diffusion, Flux and others, in a community image for CUDA 12.6.", "is_featured": true, "secret_refs": [], "tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}], "registry_url": null, "vram_request": "12Gi", "category_icon": "", "category_name": "Internal", "category_slug": "internal", "documentation": "# ComfyUI\\n\\nBuilds image and video pipelines from nodes. At the first start the image copies ComfyUI and its manager into the\\nvolume, and runs it from there.\\n\\n## Access\\nOpen port 8188. There is no sign-in: keep it private, or put an authenticating proxy in front.\\n\\n## Notes\\n- Everything (models, custom nodes, outputs) is under `/root`; models go to `/root/ComfyUI/models`.\\n- `CLI_ARGS` passes options such as `--lowvram` for small cards.\\n- The project publishes rolling tags for each CUDA line, not numbered ones. Pin a digest for exact repeats.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/system_stats\\n```\\n", "node_selector": {"kubernetes.io/arch": "amd64"}, "volume_mounts": [{"name": "storage", "mountPath": "/root"}], "download_count": 0, "memory_request": "16Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": ["mesh"]}},
{"id":"01a21113-b425-7131-a50d-334a57b7c7d9","slug":"ollama","category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","category_slug":"inference","is_featured":true,"tags":["llm","inference","openai","gpu"],"search_text":"ollama\\u001fpulls and serves open models by name, with a simple api of its own and an openai-compatible one.","sort_name":"ollama","updated_at":"2026-11-25T05:00:33.482+00:00","generation":2,"document":{"id": "01a21113-b425-7131-a50d-334a57b7c7d9", "env": [{"name": "SVC_HEALTH_CHECK", "value": "tcp:11434"}], "kind": "service", "name": "Ollama", "slug": "ollama", "tags": ["llm", "inference", "openai", "gpu"], "ports": [{"protocol": "TCP", "containerPort": 11434}], "command": [], "version": "1.2.0", "icon_url": null, "min_tier": "free", "gpu_count": 1, "image_tag": "0.15.2", "is_public": true, "created_at": "2026-11-25T05:00:33.482Z", "env_schema": [{"name": "OLLAMA_KEEP_ALIVE", "required": false, "description": "How long a model stays loaded after its last request, for example 5m, 24h or -1 for no limit.", "default_value": "5m"}, {"name": "OLLAMA_NUM_PARALLEL", "required": false, "description": "Requests that each loaded model processes at the same time.", "default_value": "2"}, {"name": "OLLAMA_MAX_LOADED_MODELS", "required": false, "description": "Models kept in memory at the same time.", "default_value": "1"}, {"name": "OLLAMA_CONTEXT_LENGTH", "required": false, "description": "Default context window in tokens.", "default_value": "4096"}], "image_name": "ollama/ollama", "updated_at": "2026-11-25T05:00:33.482Z", "category_id": "01a21113-b36d-73d8-8422-6681e85ceb63", "cpu_request": "4", "description": "Pulls and serves open models by name, with a simple API of its own and an OpenAI-compatible one.", "is_featured": true, "secret_refs": [], "tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}], "registry_url": null, "vram_request": "8Gi", "category_icon": "cpu", "category_name": "Inference", "category_slug": "inference", "documentation": "# Ollama\\n\\nA model runner that downloads models by name and loads them on demand. It starts without any model.\\n\\n## Access\\nThe API listens on port 11434. It has no authentication: keep it on a private network, or put a gateway such as\\nLiteLLM or Open WebUI in front of it.\\n\\n## Notes\\n- `OLLAMA_KEEP_ALIVE` decides when an idle model leaves the GPU.\\n- `OLLAMA_NUM_PARALLEL` and `OLLAMA_CONTEXT_LENGTH` multiply the memory that a model takes.\\n- The `ollama-data` volume keeps the downloaded models.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/api/pull -d ''{\\"model\\": \\"llama3.2\\"}''\\ncurl http://$ENDPOINT/api/generate -d ''{\\"model\\": \\"llama3.2\\", \\"prompt\\": \\"Why is the sky blue?\\", \\"stream\\": false}''\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "ollama-data", "mountPath": "/root/.ollama"}], "download_count": 0, "memory_request": "16Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": ["mesh"]}},
{"id":"01a21113-b425-7131-a50d-47d0f647682e","slug":"postgresql","category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","category_slug":"databases","is_featured":true,"tags":["database","sql","postgres"],"search_text":"postgresql\\u001fthe postgresql 17 relational database with one persistent volume.","sort_name":"postgresql","updated_at":"2026-11-25T05:00:33.482+00:00","generation":2,"document":{"id": "01a21113-b425-7131-a50d-47d0f647682e", "env": [{"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"}, {"name": "SVC_HEALTH_CHECK", "value": "exec:pg_isready -q -h 127.0.0.1"}], "kind": "service", "name": "PostgreSQL", "slug": "postgresql", "tags": ["database", "sql", "postgres"], "ports": [{"protocol": "TCP", "containerPort": 5432}], "command": [], "version": "1.2.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "17.5", "is_public": true, "created_at": "2026-11-25T05:00:33.482Z", "env_schema": [{"name": "POSTGRES_PASSWORD", "required": true, "description": "Password of the first user. [secret]", "default_value": ""}, {"name": "POSTGRES_USER", "required": false, "description": "Name of the first user, who is superuser.", "default_value": "postgres"}, {"name": "POSTGRES_DB", "required": false, "description": "Database that is created at the first start.", "default_value": "app"}, {"name": "POSTGRES_INITDB_ARGS", "required": false, "description": "Arguments for initdb at the first start.", "default_value": "--data-checksums"}, {"name": "SVC_SHM_SIZE", "required": false, "description": "Size of /dev/shm, which counts towards the memory of the container.", "default_value": "256Mi"}], "image_name": "postgres", "updated_at": "2026-11-25T05:00:33.482Z", "category_id": "01a21113-b382-7618-a7a8-d2e12f77e57f", "cpu_request": "1", "description": "The PostgreSQL 17 relational database with one persistent volume.", "is_featured": true, "secret_refs": [], "tolerations": [], "registry_url": null, "vram_request": "", "category_icon": "database", "category_name": "Databases", "category_slug": "databases", "documentation": "# PostgreSQL\\n\\nOne PostgreSQL server. It is not replicated: back it up, for example with the restic job.\\n\\n## Access\\nPort 5432, with `psql` or any driver.\\n\\n## Notes\\n- The `POSTGRES_` variables are read only while the volume is empty. Change passwords with `ALTER ROLE` later.\\n- `PGDATA` is a folder below the volume, because some file systems put `lost+found` at its top.\\n- A volume belongs to one major version. Moving to the next one needs `pg_dump` and a restore.\\n\\n## Example\\n```sh\\npsql \\"postgresql://postgres:$POSTGRES_PASSWORD@$ENDPOINT/app\\" -c ''SELECT version()''\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/var/lib/postgresql/data"}], "download_count": 0, "memory_request": "1Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}},
{"id":"01a21113-b425-7131-a50d-5c133f8e25be","slug":"redis","category_id":"01a21113-b387-731c-a140-2d1460527c18","category_slug":"caches-and-queues","is_featured":true,"tags":["cache","key-value","redis"],"search_text":"redis\\u001fan in-memory data store","sort_name":"redis","updated_at":"2026-11-25T05:00:36.69+00:00","generation":2,"document":{"id": "01a21113-b425-7131-a50d-5c133f8e25be", "env": [{"name": "SVC_HEALTH_CHECK", "value": "tcp:6379"}], "kind": "service", "name": "Redis", "slug": "redis", "tags": ["cache", "key-value", "redis"], "ports": [{"protocol": "TCP", "containerPort": 6379}], "command": ["sh", "-c", "exec docker-entrypoint.sh redis-server --appendonly yes --maxmemory 768mb --maxmemory-policy noeviction --requirepass \\"$REDIS_PASSWORD\\""], "version": "1.2.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "7.4.2", "is_public": true, "created_at": "2026-11-25T05:00:33.482Z", "env_schema": [{"name": "REDIS_PASSWORD", "required": true, "description": "Password of the user default. [secret]", "default_value": ""}], "image_name": "redis", "updated_at": "2026-11-25T05:00:36.690Z", "category_id": "01a21113-b387-731c-a140-2d1460527c18", "cpu_request": "500m", "description": "An in-memory data store", "is_featured": true, "secret_refs": [], "tolerations": [], "registry_url": null, "vram_request": "", "category_icon": "layers", "category_name": "Caches and queues", "category_slug": "caches-and-queues", "documentation": "# Redis\\n\\nKeeps data in memory and logs every write to the volume, so that a restart loses a second at most.\\n\\n## Access\\nPort 6379, with the password in `REDIS_PASSWORD`. The protocol has no TLS here, so this template requires a private mesh\\nnetwork.\\n\\n## Notes\\n- `--maxmemory` stays below the requested memory, because writing the log needs room.\\n- For a pure cache use `--maxmemory-policy allkeys-lru` and `--appendonly no`.\\n\\n## Example\\n```sh\\nredis-cli -u \\"redis://default:$REDIS_PASSWORD@$ENDPOINT\\" SET greeting hello\\nredis-cli -u \\"redis://default:$REDIS_PASSWORD@$ENDPOINT\\" GET greeting\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "download_count": 0, "memory_request": "1Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": ["mesh"]}},
{"id":"01a21113-b425-7131-a50d-632d7cbef9d1","slug":"restic-backup","category_id":"01a21113-b388-72b1-a6c0-0683558fc674","category_slug":"storage","is_featured":true,"tags":["backup","storage","s3","job"],"search_text":"restic backup\\u001fjob that backs up a volume, encrypted and deduplicated, to an s3 bucket or another restic repository.","sort_name":"restic backup","updated_at":"2026-11-25T05:00:33.482+00:00","generation":2,"document":{"id": "01a21113-b425-7131-a50d-632d7cbef9d1", "env": [], "kind": "job", "name": "Restic backup", "slug": "restic-backup", "tags": ["backup", "storage", "s3", "job"], "ports": [], "command": ["backup", "/data", "--tag", "fleet"], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "0.18.0", "is_public": true, "created_at": "2026-11-25T05:00:33.482Z", "env_schema": [{"name": "RESTIC_REPOSITORY", "required": true, "description": "Repository, for example s3:https://s3.example.net/backups.", "default_value": ""}, {"name": "AWS_DEFAULT_REGION", "required": false, "description": "Region of the bucket.", "default_value": "us-east-1"}], "image_name": "restic/restic", "updated_at": "2026-11-25T05:00:33.482Z", "category_id": "01a21113-b388-72b1-a6c0-0683558fc674", "cpu_request": "500m", "description": "Job that backs up a volume, encrypted and deduplicated, to an S3 bucket or another restic repository.", "is_featured": true, "secret_refs": [{"env": "RESTIC_PASSWORD", "key": "password", "name": "restic"}, {"env": "AWS_ACCESS_KEY_ID", "key": "access-key", "name": "restic"}, {"env": "AWS_SECRET_ACCESS_KEY", "key": "secret-key", "name": "restic"}], "tolerations": [], "registry_url": null, "vram_request": "", "category_icon": "archive", "category_name": "Storage and backup", "category_slug": "storage", "documentation": "# Restic backup\\n\\nRuns once: reads the volume at `/data` and writes what is new to the repository. Everything is encrypted before it\\nleaves the machine.\\n\\n## Before the first run\\n- Create a fleet secret named `restic` with the keys `password`, `access-key` and `secret-key`. Without that password\\n  nothing can be restored. Keep a copy elsewhere.\\n- Initialize the repository once: the same job with the command `init`.\\n\\n## Notes\\n- Attach the volume to save as `data`. Databases should be dumped first, or stopped.\\n- `RESTIC_REPOSITORY` also takes `rest:https://...`, `sftp:...` and other backends.\\n- Old snapshots are removed with the command `forget --keep-daily 7 --keep-weekly 4 --prune`.\\n\\n## Example\\n```sh\\nrestic -r \\"$RESTIC_REPOSITORY\\" snapshots\\nrestic -r \\"$RESTIC_REPOSITORY\\" restore latest --target /tmp/restored\\n```\\n", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}, {"name": "cache", "mountPath": "/root/.cache/restic"}], "download_count": 0, "memory_request": "1Gi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}},
{"id":"01a21113-c0c5-76f5-b37a-961978e156df","slug":"web","category_id":"01a21113-b387-731c-a140-2d1460527c18","category_slug":"caches-and-queues","is_featured":false,"tags":[],"search_text":"web\\u001fa web server","sort_name":"web","updated_at":"2026-11-25T05:00:36.929+00:00","generation":2,"document":{"id": "01a21113-c0c5-76f5-b37a-961978e156df", "env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "name": "Web", "slug": "web", "tags": [], "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "trap ''exit 0'' TERM\\necho \\"$GREETING $PASSWORD\\" > /data/index.html\\nhttpd -f -p 8080 -h /data & wait"], "version": "1.0.0", "icon_url": null, "min_tier": "free", "gpu_count": 0, "image_tag": "1", "is_public": true, "created_at": "2026-11-25T05:00:36.929Z", "env_schema": [{"name": "KEY", "required": true, "description": "The key of the sessions [secret]", "default_value": ""}], "image_name": "svc-test/busybox", "updated_at": "2026-11-25T05:00:36.929Z", "category_id": "01a21113-b387-731c-a140-2d1460527c18", "cpu_request": "50m", "description": "A web server", "is_featured": false, "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "category_icon": "layers", "category_name": "Caches and queues", "category_slug": "caches-and-queues", "documentation": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "download_count": 0, "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []}}]');
DELETE FROM "changes";
INSERT INTO "changes" SELECT * FROM json_populate_recordset(null::"changes", '[{"seq":1,"kind":"start","object_id":"00000000-0000-0000-0000-000000000000","at":"2026-11-25T05:00:34.49429+00:00"},
{"seq":10,"kind":"events","object_id":"01a21113-c43a-740c-8eda-35fdc97b131c","at":"2026-11-25T05:00:37.820931+00:00"},
{"seq":11,"kind":"clusters","object_id":"01a21113-c1d6-76d7-99b2-75ec8b496ba3","at":"2026-11-25T05:00:37.831628+00:00"},
{"seq":12,"kind":"events","object_id":"01a21113-c445-7612-935d-e716e1fb20ed","at":"2026-11-25T05:00:37.831676+00:00"},
{"seq":13,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:38.251477+00:00"},
{"seq":14,"kind":"workloads","object_id":"01a21113-c628-72da-b0e0-cfc27bef192c","at":"2026-11-25T05:00:38.366969+00:00"},
{"seq":15,"kind":"deployments","object_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:38.367122+00:00"},
{"seq":16,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:38.367333+00:00"},
{"seq":17,"kind":"storage","object_id":"01a21113-c62f-7604-9d22-fd10910d12f9","at":"2026-11-25T05:00:38.36745+00:00"},
{"seq":18,"kind":"storage","object_id":"01a21113-c62f-7604-9d22-fd10910d12f9","at":"2026-11-25T05:00:38.367574+00:00"},
{"seq":19,"kind":"deployments","object_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:38.972648+00:00"},
{"seq":2,"kind":"tokens","object_id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","at":"2026-11-25T05:00:35.480999+00:00"},
{"seq":20,"kind":"storage","object_id":"01a21113-c62f-7604-9d22-fd10910d12f9","at":"2026-11-25T05:00:38.972893+00:00"},
{"seq":21,"kind":"deployments","object_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:42.532659+00:00"},
{"seq":22,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:42.532887+00:00"},
{"seq":23,"kind":"storage","object_id":"01a21113-da51-76ef-931c-b01ea38dc6ee","at":"2026-11-25T05:00:43.481927+00:00"},
{"seq":24,"kind":"workloads","object_id":"01a21113-da64-7586-a7de-3a0397721582","at":"2026-11-25T05:00:43.533373+00:00"},
{"seq":25,"kind":"deployments","object_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:43.533528+00:00"},
{"seq":26,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:43.533675+00:00"},
{"seq":27,"kind":"storage","object_id":"01a21113-da51-76ef-931c-b01ea38dc6ee","at":"2026-11-25T05:00:43.533832+00:00"},
{"seq":28,"kind":"storage","object_id":"01a21113-da51-76ef-931c-b01ea38dc6ee","at":"2026-11-25T05:00:43.533881+00:00"},
{"seq":29,"kind":"deployments","object_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:44.32102+00:00"},
{"seq":3,"kind":"tokens","object_id":"01a21113-bb4d-7690-859e-53e0ea50e192","at":"2026-11-25T05:00:35.650937+00:00"},
{"seq":30,"kind":"storage","object_id":"01a21113-da51-76ef-931c-b01ea38dc6ee","at":"2026-11-25T05:00:44.321074+00:00"},
{"seq":31,"kind":"deployments","object_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:47.856567+00:00"},
{"seq":32,"kind":"deployments","object_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:48.628102+00:00"},
{"seq":33,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:48.628264+00:00"},
{"seq":34,"kind":"deployments","object_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:49.108735+00:00"},
{"seq":35,"kind":"deployments","object_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:49.675856+00:00"},
{"seq":36,"kind":"deployments","object_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:50.275879+00:00"},
{"seq":37,"kind":"deployments","object_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:53.661063+00:00"},
{"seq":38,"kind":"workloads","object_id":"01a21114-025b-731c-93f2-b2d52a9aab43","at":"2026-11-25T05:00:53.749118+00:00"},
{"seq":39,"kind":"deployments","object_id":"01a21114-025b-731c-93f2-bbc54e18633e","at":"2026-11-25T05:00:53.749211+00:00"},
{"seq":4,"kind":"tokens","object_id":"01a21113-bb6e-7193-b843-5141f3f6efbe","at":"2026-11-25T05:00:35.738513+00:00"},
{"seq":40,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:53.749319+00:00"},
{"seq":41,"kind":"storage","object_id":"01a21114-025d-70a3-ac57-0887c879e0e0","at":"2026-11-25T05:00:53.749386+00:00"},
{"seq":42,"kind":"storage","object_id":"01a21114-025d-70a3-ac57-0887c879e0e0","at":"2026-11-25T05:00:53.749469+00:00"},
{"seq":43,"kind":"deployments","object_id":"01a21114-025b-731c-93f2-bbc54e18633e","at":"2026-11-25T05:00:54.170467+00:00"},
{"seq":44,"kind":"storage","object_id":"01a21114-025d-70a3-ac57-0887c879e0e0","at":"2026-11-25T05:00:54.170523+00:00"},
{"seq":45,"kind":"deployments","object_id":"01a21114-025b-731c-93f2-bbc54e18633e","at":"2026-11-25T05:00:57.74499+00:00"},
{"seq":46,"kind":"deployments","object_id":"01a21114-025b-731c-93f2-bbc54e18633e","at":"2026-11-25T05:00:57.808177+00:00"},
{"seq":47,"kind":"storage","object_id":"01a21114-025d-70a3-ac57-0887c879e0e0","at":"2026-11-25T05:00:58.110038+00:00"},
{"seq":48,"kind":"storage","object_id":"01a21114-025d-70a3-ac57-0887c879e0e0","at":"2026-11-25T05:00:58.110113+00:00"},
{"seq":49,"kind":"deployments","object_id":"01a21114-025b-731c-93f2-bbc54e18633e","at":"2026-11-25T05:00:58.110228+00:00"},
{"seq":5,"kind":"secrets","object_id":"01a21113-c105-72b7-83d5-75a8c8926f10","at":"2026-11-25T05:00:37.01329+00:00"},
{"seq":50,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:58.110329+00:00"},
{"seq":51,"kind":"workloads","object_id":"01a21114-025b-731c-93f2-b2d52a9aab43","at":"2026-11-25T05:00:58.110391+00:00"},
{"seq":52,"kind":"users","object_id":"01a21114-1693-73df-8d5f-b30bcdcadc06","at":"2026-11-25T05:00:58.912412+00:00"},
{"seq":53,"kind":"users","object_id":"01a21114-16a5-7085-9ff8-1be976e069e1","at":"2026-11-25T05:00:58.92286+00:00"},
{"seq":6,"kind":"hosts","object_id":"01a21113-c11c-762c-ada1-ea1d72efa875","at":"2026-11-25T05:00:37.182893+00:00"},
{"seq":7,"kind":"hosts","object_id":"01a21113-c1c3-746d-8bb9-11c367f63146","at":"2026-11-25T05:00:37.200579+00:00"},
{"seq":8,"kind":"clusters","object_id":"01a21113-c1d6-76d7-99b2-75ec8b496ba3","at":"2026-11-25T05:00:37.283832+00:00"},
{"seq":9,"kind":"hosts","object_id":"01a21113-c1c3-746d-8bb9-11c367f63146","at":"2026-11-25T05:00:37.820844+00:00"}]');
DELETE FROM "clusters";
INSERT INTO "clusters" SELECT * FROM json_populate_recordset(null::"clusters",  E'[{"id":"01a21113-c1d6-76d7-99b2-75ec8b496ba3","name":"unreachable-cluster","labels":{},"version":1,"created_at":"2026-11-25T05:00:37.274+00:00","updated_at":"2026-11-25T05:00:37.274+00:00","created_by":"token:demo-admin","server":"https://127.0.0.1:1","by_admin":true,"ca_certificate":null,"auth_kind":"token","sealed":"{\\"ciphertext\\":\\"uphSulesQp9cUZaKgXmSHnOs4yTZvNhMa1nspxwPS1hBWQ3ZIF1Sghh8cVg0plpSXTIHqBJNI_Nz96r9mpsLWqc0lu9vLJQ\\",\\"iv\\":\\"7DDiJREJh3bxszsw\\",\\"tag\\":\\"S4cq1ByO2RiRNDaZgDRRQg\\",\\"encrypted_key\\":\\"EYZmn0gm0xoajd2IJ63VlEl7Vbkd6Sl3IDVYuGbiZf7mz9lLzN_1Zw\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","namespace":"apps","network_types":[],"default_storage_class":null,"gpu_resource_name":"nvidia.com/gpu","reachability":"unreachable","last_seen_at":null,"kubernetes_version":null,"capacity":null,"cpu_millis":null,"memory_bytes":null,"gpu_count":null,"conditions":[],"storage_classes":[],"check_at":"2026-11-25T05:01:09.797+00:00","check_failures":5,"unreachable_reason":"The connection to its endpoint was refused.","identity":null,"public_service_type":"ClusterIP"}]');
DELETE FROM "deployment_events";
INSERT INTO "deployment_events" SELECT * FROM json_populate_recordset(null::"deployment_events", '[{"id":"01a21113-c651-708c-ab53-49dedad58215","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:38.354+00:00","kind":"operation","generation":1,"reason":"create","message":"created from revision 1, replicas: 1","actor":"token:demo-admin"},
{"id":"01a21113-c8b9-77b1-8a48-9b5896bb25a7","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:38.972+00:00","kind":"event","generation":1,"reason":"engine","message":"created the volume web-data-910d12f9","actor":null},
{"id":"01a21113-c8b9-77b1-8a48-9e89d25b1210","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:38.972+00:00","kind":"event","generation":1,"reason":"engine","message":"created web-ecb2a6b1-0","actor":null},
{"id":"01a21113-c8b9-77b1-8a48-a32afd98cd19","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:38.972+00:00","kind":"event","generation":1,"reason":"starting","message":"0 of 1 up.","actor":null},
{"id":"01a21113-d6a1-7147-ba20-d3e51d440dac","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:42.532+00:00","kind":"event","generation":1,"reason":"running","message":"1 of 1 up.","actor":null},
{"id":"01a21113-da86-74f4-9349-061bfb616ae9","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:43.527+00:00","kind":"operation","generation":1,"reason":"create","message":"created from revision 1, replicas: 2","actor":"token:demo-admin"},
{"id":"01a21113-dd9f-77af-9de9-e02e42709ac2","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:44.321+00:00","kind":"event","generation":1,"reason":"engine","message":"created the volume shared-a38dc6ee","actor":null},
{"id":"01a21113-dd9f-77af-9de9-e6923588064d","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:44.321+00:00","kind":"event","generation":1,"reason":"engine","message":"created archive-f2d4a718-0","actor":null},
{"id":"01a21113-dd9f-77af-9de9-eb9b65fddfcf","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:44.321+00:00","kind":"event","generation":1,"reason":"engine","message":"created archive-f2d4a718-1","actor":null},
{"id":"01a21113-dd9f-77af-9de9-ed5ca0e803e7","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:44.321+00:00","kind":"event","generation":1,"reason":"starting","message":"0 of 2 up.","actor":null},
{"id":"01a21113-eb6d-7442-8726-5db99b841484","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:47.856+00:00","kind":"event","generation":1,"reason":"running","message":"2 of 2 up.","actor":null},
{"id":"01a21113-ee70-7474-a958-611224259f09","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:48.625+00:00","kind":"operation","generation":2,"reason":"stop","message":"stop requested","actor":"token:demo-admin"},
{"id":"01a21113-f052-75c3-a34c-54147b75b0e6","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:49.109+00:00","kind":"event","generation":2,"reason":"engine","message":"removed archive-f2d4a718-0","actor":null},
{"id":"01a21113-f052-75c3-a34c-588c78f4383d","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:49.109+00:00","kind":"event","generation":2,"reason":"engine","message":"removed archive-f2d4a718-1","actor":null},
{"id":"01a21113-f052-75c3-a34c-5e7d96da03ba","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","at":"2026-11-25T05:00:49.109+00:00","kind":"event","generation":2,"reason":"stopped","message":"All containers are removed.","actor":null},
{"id":"01a21113-f288-7566-b858-69cd243643cd","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:49.673+00:00","kind":"operation","generation":2,"reason":"restart","message":"restart requested","actor":"token:demo-admin"},
{"id":"01a21113-f4e2-7737-b398-315095504175","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:50.276+00:00","kind":"event","generation":2,"reason":"engine","message":"created web-ecb2a6b1-0 again: its configuration has changed","actor":null},
{"id":"01a21113-f4e2-7737-b398-36c5684eae0f","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:50.276+00:00","kind":"event","generation":2,"reason":"starting","message":"0 of 1 up.","actor":null},
{"id":"01a21114-021a-7300-b736-232438922257","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","at":"2026-11-25T05:00:53.661+00:00","kind":"event","generation":2,"reason":"running","message":"1 of 1 up.","actor":null}]');
DELETE FROM "deployment_revisions";
INSERT INTO "deployment_revisions" SELECT * FROM json_populate_recordset(null::"deployment_revisions", '[{"deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","generation":1,"operation":"create","revision":1,"replicas":1,"env":{"KEY": {"id": "01a21113-c628-72da-b0e0-d363552b7e34", "generate": 32}},"desired_state":"running","created_at":"2026-11-25T05:00:38.308+00:00","created_by":"token:demo-admin"},
{"deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","generation":2,"operation":"restart","revision":1,"replicas":1,"env":{"KEY": {"id": "01a21113-c628-72da-b0e0-d363552b7e34", "generate": 32}},"desired_state":"running","created_at":"2026-11-25T05:00:49.649+00:00","created_by":"token:demo-admin"},
{"deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","generation":1,"operation":"create","revision":1,"replicas":2,"env":{"KEY": {"id": "01a21113-da64-7586-a7de-3c2110764b70", "generate": 32}, "GREETING": "good day"},"desired_state":"running","created_at":"2026-11-25T05:00:43.489+00:00","created_by":"token:demo-admin"},
{"deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","generation":2,"operation":"stop","revision":1,"replicas":2,"env":{"KEY": {"id": "01a21113-da64-7586-a7de-3c2110764b70", "generate": 32}, "GREETING": "good day"},"desired_state":"stopped","created_at":"2026-11-25T05:00:48.604+00:00","created_by":"token:demo-admin"}]');
DELETE FROM "deployments";
INSERT INTO "deployments" SELECT * FROM json_populate_recordset(null::"deployments", '[{"id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","name":"web","labels":{},"version":2,"created_at":"2026-11-25T05:00:38.308+00:00","updated_at":"2026-11-25T05:00:49.666+00:00","created_by":"token:demo-admin","workload_id":"01a21113-c628-72da-b0e0-cfc27bef192c","revision":1,"host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cluster_id":null,"replicas":1,"env":{"KEY": {"id": "01a21113-c628-72da-b0e0-d363552b7e34", "generate": 32}},"desired_state":"running","restarted_at":"2026-11-25T05:00:49.666+00:00","cpu_millis":50,"memory_bytes":33554432,"gpu_count":0,"generation":2,"observed_generation":2,"phase":"running","reason":null,"message":"1 of 1 up.","conditions":[],"endpoints":[{"scope": "loopback", "address": "127.0.0.1:26229", "protocol": "TCP", "container_port": 8080}],"instances":[{"name": "web-ecb2a6b1-0", "phase": "running", "message": "is running", "restarts": 0}],"observed_at":"2026-11-25T05:00:53.659+00:00","sent_to_engine":true,"deleting":false,"take_over":false,"due_at":"2026-11-25T05:26:50.836+00:00","failures":0,"lease_owner":null,"lease_until":null,"deletes_workload":true,"defaults_version":2,"bindings":[],"default_memory_bytes":2147483648,"default_processes":4096},
{"id":"01a21113-da65-7227-b692-60aff2d4a718","name":"archive","labels":{},"version":2,"created_at":"2026-11-25T05:00:43.489+00:00","updated_at":"2026-11-25T05:00:48.615+00:00","created_by":"token:demo-admin","workload_id":"01a21113-da64-7586-a7de-3a0397721582","revision":1,"host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cluster_id":null,"replicas":2,"env":{"KEY": {"id": "01a21113-da64-7586-a7de-3c2110764b70", "generate": 32}, "GREETING": "good day"},"desired_state":"stopped","restarted_at":null,"cpu_millis":0,"memory_bytes":0,"gpu_count":0,"generation":2,"observed_generation":2,"phase":"stopped","reason":null,"message":"All containers are removed.","conditions":[],"endpoints":[],"instances":[],"observed_at":"2026-11-25T05:00:50.622+00:00","sent_to_engine":true,"deleting":false,"take_over":false,"due_at":"2026-11-25T05:26:29.139+00:00","failures":0,"lease_owner":null,"lease_until":null,"deletes_workload":true,"defaults_version":2,"bindings":[],"default_memory_bytes":2147483648,"default_processes":4096}]');
DELETE FROM "download_reports";
INSERT INTO "download_reports" SELECT * FROM json_populate_recordset(null::"download_reports", '[{"template_id":"01a21113-c0c5-76f5-b37a-961978e156df","slug":"web","claimed_at":"2026-11-25T05:00:38.387+00:00","reported_at":"2026-11-25T05:00:38.405+00:00"}]');
DELETE FROM "encryption_canary";
INSERT INTO "encryption_canary" SELECT * FROM json_populate_recordset(null::"encryption_canary",  E'[{"id":1,"sealed":"{\\"ciphertext\\":\\"YaupLiL2\\",\\"iv\\":\\"-hO509P13h0CszWK\\",\\"tag\\":\\"DIanRuIETcz_A-qTBtRlpQ\\",\\"encrypted_key\\":\\"XsnniiiLN85J-RVNRPAW8uTxyvJNr4XZrGXuNigIKfIIlepD6C__xg\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local"}]');
DELETE FROM "events";
INSERT INTO "events" SELECT * FROM json_populate_recordset(null::"events", '[{"id":"01a21113-c43a-740c-8eda-35fdc97b131c","seq":1,"at":"2026-11-25T05:00:37.82+00:00","kind":"hosts","object_id":"01a21113-c1c3-746d-8bb9-11c367f63146","name":"unreachable","severity":"warning","reason":"Unreachable","message":"The connection to its endpoint was refused.","resolved_at":null},
{"id":"01a21113-c445-7612-935d-e716e1fb20ed","seq":2,"at":"2026-11-25T05:00:37.831+00:00","kind":"clusters","object_id":"01a21113-c1d6-76d7-99b2-75ec8b496ba3","name":"unreachable-cluster","severity":"warning","reason":"Unreachable","message":"The connection to its endpoint was refused.","resolved_at":null}]');
DELETE FROM "hosts";
INSERT INTO "hosts" SELECT * FROM json_populate_recordset(null::"hosts", '[{"id":"01a21113-c11c-762c-ada1-ea1d72efa875","name":"recorded","labels":{"zone": "a"},"version":1,"created_at":"2026-11-25T05:00:37.124+00:00","updated_at":"2026-11-25T05:00:37.124+00:00","created_by":"token:demo-admin","engine":"podman","endpoint":"tcp://127.0.0.1:39827","by_admin":true,"sealed":null,"key_id":null,"network_types":[],"taints":[],"schedulable":true,"gpus":[],"reachability":"online","last_seen_at":"2026-11-25T05:00:38.25+00:00","engine_version":"4.3.1","arch":"amd64","cpu_millis":2000,"memory_bytes":25276502016,"check_at":"2026-11-25T05:01:05.639+00:00","check_failures":0,"unreachable_reason":"","identity":"b05f5056a83d97203cd6e12d4","addresses":{},"verified_addresses":["127.0.0.1"]},
{"id":"01a21113-c1c3-746d-8bb9-11c367f63146","name":"unreachable","labels":{},"version":1,"created_at":"2026-11-25T05:00:37.19+00:00","updated_at":"2026-11-25T05:00:37.19+00:00","created_by":"token:demo-admin","engine":"docker","endpoint":"tcp://127.0.0.1:1","by_admin":true,"sealed":null,"key_id":null,"network_types":["mesh"],"taints":[],"schedulable":true,"gpus":[],"reachability":"unreachable","last_seen_at":null,"engine_version":null,"arch":null,"cpu_millis":null,"memory_bytes":null,"check_at":"2026-11-25T05:01:07.498+00:00","check_failures":5,"unreachable_reason":"The connection to its endpoint was refused.","identity":null,"addresses":{},"verified_addresses":[]}]');
DELETE FROM "invitations";
INSERT INTO "invitations" SELECT * FROM json_populate_recordset(null::"invitations", '[{"user_id":"01a21114-16a5-7085-9ff8-1be976e069e1","code_hash":"4b314ccc5fd1f26ab79b27873c8a7f95c8910219ce1180e503466d21c6642aec","expires_at":"2026-11-26T05:00:58.928+00:00"}]');
DELETE FROM "placement_targets";
INSERT INTO "placement_targets" SELECT * FROM json_populate_recordset(null::"placement_targets", '[{"target_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cpu_millis":50,"memory_bytes":33554432,"gpu_count":0,"changed_in":1086},
{"target_id":"01a21113-c1c3-746d-8bb9-11c367f63146","cpu_millis":0,"memory_bytes":0,"gpu_count":0,"changed_in":988},
{"target_id":"01a21113-c1d6-76d7-99b2-75ec8b496ba3","cpu_millis":0,"memory_bytes":0,"gpu_count":0,"changed_in":989}]');
DELETE FROM "schema_info";
INSERT INTO "schema_info" SELECT * FROM json_populate_recordset(null::"schema_info", '[{"id":1,"oldest_migration":"00000000000000_initial","audit_retention_enforced":false,"audit_retention_days":null}]');
DELETE FROM "sealed_values";
INSERT INTO "sealed_values" SELECT * FROM json_populate_recordset(null::"sealed_values",  E'[{"id":"01a21113-c628-72da-b0e0-d363552b7e34","deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","workload_id":null,"variable":"KEY","sealed":"{\\"ciphertext\\":\\"cK9gTGa6UN0ZwuIm4TmbbsVM2yfLIkRDLw5K08wnXLU\\",\\"iv\\":\\"9k0lKclZgpBDSL69\\",\\"tag\\":\\"S-krhsc5WN46Cnw36NPAqg\\",\\"encrypted_key\\":\\"IftlbIz5EBD72Ho7reCrwjHtPzG1QnLlPInjAQVtIZy1aqHS_w35IQ\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","created_at":"2026-11-25T05:00:38.308+00:00"},
{"id":"01a21113-da64-7586-a7de-3c2110764b70","deployment_id":"01a21113-da65-7227-b692-60aff2d4a718","workload_id":null,"variable":"KEY","sealed":"{\\"ciphertext\\":\\"rB6XXxzXJhRJVsvWp8bT1601sD2od7O_RcVOKn_PqRM\\",\\"iv\\":\\"elZHgh9J96_7YZBg\\",\\"tag\\":\\"8uSNkxbD3u0R46MZM6AoyQ\\",\\"encrypted_key\\":\\"e4w5sKLDE8PH2pkptL9uK6Cu--a7Pcmph7NCWBipxagpkH6JyBP2nw\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","created_at":"2026-11-25T05:00:43.489+00:00"}]');
DELETE FROM "secrets";
INSERT INTO "secrets" SELECT * FROM json_populate_recordset(null::"secrets",  E'[{"id":"01a21113-c105-72b7-83d5-75a8c8926f10","name":"web-password","labels":{},"version":1,"created_at":"2026-11-25T05:00:36.997+00:00","updated_at":"2026-11-25T05:00:36.997+00:00","created_by":"token:demo-admin","kind":"opaque","keys":["PASSWORD"],"sealed":"{\\"ciphertext\\":\\"V94FbWJ6i21IQjnJTdyGQGz1yVrgR3kRizUx\\",\\"iv\\":\\"Fi6e_NJcedKq0WL_\\",\\"tag\\":\\"Ttk7rMCIWdcNTT7wu6yVYg\\",\\"encrypted_key\\":\\"3ikLjN5ArRY-LM9k2g2qW90HTmRcXI_AJIj3_qDxrRtBRh1gt7emJw\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","values_version":1,"last_rotated_at":"2026-11-25T05:00:36.997+00:00","server":null}]');
DELETE FROM "settings";
INSERT INTO "settings" SELECT * FROM json_populate_recordset(null::"settings",  E'[{"name":"hub","values":{"url": "http://127.0.0.1:34411", "sync_interval": 0},"sealed":"{\\"ciphertext\\":\\"UeNFqZfVmSMDSz94YaHyu78VW0Pzb9K_rpBZpPdPPST6qewVkLpDZXD0FNwxSN36qZnQkrdKU7xD810FbAA76y8EBniyYRNnhpAy84AWwQrt9KB8RHA4TArVQ6JyvjR9uWWHu3s\\",\\"iv\\":\\"As78vvjKI0lRx7S2\\",\\"tag\\":\\"gY6ARU6vd20ElDJUTaDi8w\\",\\"encrypted_key\\":\\"wirehzl-NK8VyxMcZ6iMrQ8algdmpMDezkcJKyW2qQcTvA5ZbwxJnw\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","updated_at":"2026-11-25T05:00:36.609+00:00"}]');
DELETE FROM "signing_keys";
INSERT INTO "signing_keys" SELECT * FROM json_populate_recordset(null::"signing_keys",  E'[{"kid":"6ea2ae50-147d-4b61-869e-fd09818d1e47","public_jwk":{"x": "TB_uPrC2g93ViUDjPegTB1gzpmjWLxpkgiF2XpkQNkg", "crv": "Ed25519", "kty": "OKP"},"private_jwk":"{\\"ciphertext\\":\\"KcOqSWfe-3YIA-hupYFqM1ulZPfRSnvFp3g1L6Gpl9QcZW6AykqTCPRB17wtsn1gLMibPETKthL4MaEmz_DI_lwf9YlYmuot1aTxJlftP5rKjJGKRzo5wCfhpmV5F4FHp1UuJjTyS0MxW6WhOGmVq2Jhyp0uATVDN04o2Qvn4OhS\\",\\"iv\\":\\"i9aKf2pQRD7wgctf\\",\\"tag\\":\\"coRo3Cj4HaFkc671kjPdng\\",\\"encrypted_key\\":\\"EuAxryC9XdxeV6Nzc-udEEN8WbV5Gbgm3Gys9fCUSyfUmab9LOmbbg\\",\\"protected\\":\\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoibG9jYWwifQ\\"}","key_id":"local","created_at":"2026-11-25T05:00:34.686+00:00","retired_at":null}]');
DELETE FROM "tokens";
INSERT INTO "tokens" SELECT * FROM json_populate_recordset(null::"tokens", '[{"id":"01a21113-ba8d-7463-a2b4-69c81621e1cf","name":"demo-admin","role":"admin","token_hash":"8b9992cf60c400e223a352404b267c37a9281eec6595fce05c1355b3cede54c7","token_prefix":"svcm_uEEm9tm","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":"2026-11-25T05:00:58.826+00:00","created_by":"command-line","created_by_user":null,"created_at":"2026-11-25T05:00:35.478+00:00"},
{"id":"01a21113-bb4d-7690-859e-53e0ea50e192","name":"demo-viewer","role":"viewer","token_hash":"2e5cd232a482f91a9ee9325e1b9d148b92faa03222c975d8bae0a72d22b035fb","token_prefix":"svcm_m6vMLyj","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":null,"created_by":"command-line","created_by_user":null,"created_at":"2026-11-25T05:00:35.648+00:00"},
{"id":"01a21113-bb6e-7193-b843-5141f3f6efbe","name":"demo-operator","role":"operator","token_hash":"c247371a88c559e2798e4a182fae03a4200cd7f6b7279d34bfa6b655772547a6","token_prefix":"svcm_gykW42H","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":null,"created_by":"command-line","created_by_user":null,"created_at":"2026-11-25T05:00:35.736+00:00"}]');
DELETE FROM "tombstones";
INSERT INTO "tombstones" SELECT * FROM json_populate_recordset(null::"tombstones", '[{"id":"01a21114-025b-731c-93f2-bbc54e18633e","host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cluster_id":null,"at":"2026-11-25T05:00:58.095+00:00"},
{"id":"01a21114-025d-70a3-ac57-0887c879e0e0","host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cluster_id":null,"at":"2026-11-25T05:00:58.095+00:00"}]');
DELETE FROM "users";
INSERT INTO "users" SELECT * FROM json_populate_recordset(null::"users", '[{"id":"01a21114-1693-73df-8d5f-b30bcdcadc06","source":"local","email":"local@example.test","name":"Local","role":"viewer","password_hash":"$argon2id$v=19$m=19456,t=2,p=1$Hml663y01bvmJWl/sRGcsQ$pVt/RhqlkV/lXjfc8NrIN/9RrOs4mc/M/gVvjoL8sR4","iss":null,"sub":null,"claims":null,"created_at":"2026-11-25T05:00:58.899+00:00","updated_at":"2026-11-25T05:00:58.899+00:00","last_sign_in_at":null,"removed_at":null},
{"id":"01a21114-16a5-7085-9ff8-1be976e069e1","source":"local","email":"invited@example.test","name":"Invited","role":"operator","password_hash":null,"iss":null,"sub":null,"claims":null,"created_at":"2026-11-25T05:00:58.917+00:00","updated_at":"2026-11-25T05:00:58.917+00:00","last_sign_in_at":null,"removed_at":null}]');
DELETE FROM "volumes";
INSERT INTO "volumes" SELECT * FROM json_populate_recordset(null::"volumes", '[{"id":"01a21113-c62f-7604-9d22-fd10910d12f9","name":"web-data","labels":{},"version":1,"created_at":"2026-11-25T05:00:38.308+00:00","updated_at":"2026-11-25T05:00:38.308+00:00","created_by":"token:demo-admin","size":"10Gi","access_mode":"ReadWriteOnce","storage_class":null,"reclaim":"delete","host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cluster_id":null,"deployment_id":"01a21113-c628-72da-b0e0-d611ecb2a6b1","phase":"bound","sent_to_engine":true},
{"id":"01a21113-da51-76ef-931c-b01ea38dc6ee","name":"shared","labels":{},"version":1,"created_at":"2026-11-25T05:00:43.473+00:00","updated_at":"2026-11-25T05:00:43.473+00:00","created_by":"token:demo-admin","size":"10Gi","access_mode":"ReadWriteMany","storage_class":null,"reclaim":"retain","host_id":"01a21113-c11c-762c-ada1-ea1d72efa875","cluster_id":null,"deployment_id":null,"phase":"bound","sent_to_engine":true}]');
DELETE FROM "workload_revisions";
INSERT INTO "workload_revisions" SELECT * FROM json_populate_recordset(null::"workload_revisions",  E'[{"workload_id":"01a21113-c628-72da-b0e0-cfc27bef192c","revision":1,"spec":{"env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "trap ''exit 0'' TERM\\necho \\"$GREETING $PASSWORD\\" > /data/index.html\\nhttpd -f -p 8080 -h /data & wait"], "gpu_count": 0, "image_tag": "1", "env_schema": [{"name": "KEY", "required": true, "description": "The key of the sessions [secret]", "default_value": ""}], "image_name": "svc-test/busybox", "cpu_request": "50m", "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []},"overrides":{},"secret_names":["web-password"],"template_id":"01a21113-c0c5-76f5-b37a-961978e156df","template_slug":"web","template_version":"1.0.0","template_hash":"224b34cb3d664039a083a539383a5ad034472ee5e50b8f5b94bb80b7e32d56e9","min_tier":"free","created_at":"2026-11-25T05:00:38.308+00:00","created_by":"token:demo-admin"},
{"workload_id":"01a21113-da64-7586-a7de-3a0397721582","revision":1,"spec":{"env": [{"name": "GREETING", "value": "hello"}], "kind": "service", "ports": [{"protocol": "TCP", "containerPort": 8080}], "command": ["sh", "-c", "trap ''exit 0'' TERM\\necho \\"$GREETING $PASSWORD\\" > /data/index.html\\nhttpd -f -p 8080 -h /data & wait"], "gpu_count": 0, "image_tag": "1", "env_schema": [{"name": "KEY", "required": true, "description": "The key of the sessions [secret]", "default_value": ""}], "image_name": "svc-test/busybox", "cpu_request": "50m", "secret_refs": [{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}], "tolerations": [], "registry_url": "localhost", "vram_request": "", "node_selector": {}, "volume_mounts": [{"name": "data", "mountPath": "/data"}], "memory_request": "32Mi", "concurrent_jobs": 1, "registry_credentials": null, "required_network_types": []},"overrides":{},"secret_names":["web-password"],"template_id":"01a21113-c0c5-76f5-b37a-961978e156df","template_slug":"web","template_version":"1.0.0","template_hash":"224b34cb3d664039a083a539383a5ad034472ee5e50b8f5b94bb80b7e32d56e9","min_tier":"free","created_at":"2026-11-25T05:00:43.489+00:00","created_by":"token:demo-admin"}]');
DELETE FROM "workloads";
INSERT INTO "workloads" SELECT * FROM json_populate_recordset(null::"workloads", '[{"id":"01a21113-c628-72da-b0e0-cfc27bef192c","name":"web","labels":{},"version":1,"created_at":"2026-11-25T05:00:38.308+00:00","updated_at":"2026-11-25T05:00:38.308+00:00","created_by":"token:demo-admin","revision":1},
{"id":"01a21113-da64-7586-a7de-3a0397721582","name":"archive","labels":{},"version":1,"created_at":"2026-11-25T05:00:43.489+00:00","updated_at":"2026-11-25T05:00:43.489+00:00","created_by":"token:demo-admin","revision":1}]');
