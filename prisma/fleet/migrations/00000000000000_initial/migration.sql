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
