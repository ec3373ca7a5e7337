-- The database of the hub 0.2.0, recorded by infra/local/release/record.mjs.
-- Trusted extension: the owner of a database may create it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- CreateEnum
CREATE TYPE "UserRole" AS ENUM ('user', 'admin', 'superadmin');

-- CreateEnum
CREATE TYPE "OrgRole" AS ENUM ('org_admin', 'member');

-- CreateEnum
CREATE TYPE "OrgStatus" AS ENUM ('active', 'suspended');

-- CreateTable
CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "status" "OrgStatus" NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "subscriptions" (
    "id" UUID NOT NULL,
    "org_id" UUID NOT NULL,
    "tier" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "iss" TEXT NOT NULL,
    "sub" TEXT NOT NULL,
    "email" TEXT,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "name" TEXT NOT NULL DEFAULT '',
    "name_set" BOOLEAN NOT NULL DEFAULT false,
    "role" "UserRole" NOT NULL DEFAULT 'user',
    "role_set" BOOLEAN NOT NULL DEFAULT false,
    "org_id" UUID,
    "org_role" "OrgRole",
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "org_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "key_hash" TEXT NOT NULL,
    "key_prefix" TEXT NOT NULL,
    "expires_in_days" INTEGER,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "categories" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "icon" TEXT NOT NULL DEFAULT '',
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "is_private" BOOLEAN NOT NULL DEFAULT false,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "shown_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "categories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "templates" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "version" TEXT NOT NULL DEFAULT '1.0.0',
    "kind" TEXT NOT NULL DEFAULT 'service',
    "category_id" UUID NOT NULL,
    "image_name" TEXT NOT NULL DEFAULT '',
    "image_tag" TEXT NOT NULL DEFAULT 'latest',
    "cpu_request" TEXT NOT NULL DEFAULT '',
    "memory_request" TEXT NOT NULL DEFAULT '',
    "gpu_count" INTEGER NOT NULL DEFAULT 0,
    "vram_request" TEXT NOT NULL DEFAULT '',
    "concurrent_jobs" INTEGER NOT NULL DEFAULT 1,
    "env" JSONB NOT NULL DEFAULT '[]',
    "env_schema" JSONB NOT NULL DEFAULT '[]',
    "ports" JSONB NOT NULL DEFAULT '[]',
    "volume_mounts" JSONB NOT NULL DEFAULT '[]',
    "node_selector" JSONB NOT NULL DEFAULT '{}',
    "required_network_types" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_public" BOOLEAN NOT NULL DEFAULT true,
    "is_featured" BOOLEAN NOT NULL DEFAULT false,
    "min_tier" TEXT NOT NULL DEFAULT 'free',
    "documentation" TEXT NOT NULL DEFAULT '',
    "registry_url" TEXT,
    "registry_credentials" TEXT,
    "secret_refs" JSONB NOT NULL DEFAULT '[]',
    "command" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "tolerations" JSONB NOT NULL DEFAULT '[]',
    "icon_url" TEXT,
    "owner_org_id" UUID,
    "search_text" TEXT NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "weight" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "templates_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "template_downloads" (
    "template_id" UUID NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "template_downloads_pkey" PRIMARY KEY ("template_id")
);

-- CreateTable
CREATE TABLE "catalog_access" (
    "id" UUID NOT NULL,
    "org_id" UUID NOT NULL,
    "category_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "catalog_access_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "catalog_clock" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "floor" TIMESTAMPTZ(3),

    CONSTRAINT "catalog_clock_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "catalog_commits" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "commit" UUID NOT NULL,

    CONSTRAINT "catalog_commits_pkey" PRIMARY KEY ("at")
);

-- CreateTable
CREATE TABLE "template_scopes" (
    "id" BIGSERIAL NOT NULL,
    "template_id" UUID NOT NULL,
    "is_public" BOOLEAN NOT NULL,
    "category_id" UUID NOT NULL,
    "owner_org_id" UUID,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),

    CONSTRAINT "template_scopes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "category_privacy" (
    "id" BIGSERIAL NOT NULL,
    "category_id" UUID NOT NULL,
    "is_private" BOOLEAN NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),

    CONSTRAINT "category_privacy_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "catalog_access_periods" (
    "id" BIGSERIAL NOT NULL,
    "org_id" UUID NOT NULL,
    "category_id" UUID NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),

    CONSTRAINT "catalog_access_periods_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "organizations_slug_key" ON "organizations"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "subscriptions_org_id_key" ON "subscriptions"("org_id");

-- CreateIndex
CREATE INDEX "users_org_id_idx" ON "users"("org_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_iss_sub_key" ON "users"("iss", "sub");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE INDEX "api_keys_org_id_idx" ON "api_keys"("org_id");

-- CreateIndex
CREATE UNIQUE INDEX "categories_slug_key" ON "categories"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "templates_slug_key" ON "templates"("slug");

-- CreateIndex
CREATE INDEX "templates_category_id_idx" ON "templates"("category_id");

-- CreateIndex
CREATE INDEX "templates_owner_org_id_idx" ON "templates"("owner_org_id");

-- CreateIndex
CREATE INDEX "templates_updated_at_id_idx" ON "templates"("updated_at", "id");

-- CreateIndex
CREATE INDEX "templates_sort_name_id_idx" ON "templates"("sort_name", "id");

-- Without fastupdate there is no pending list. After a large import, a search would scan that list or the whole table.
CREATE INDEX "templates_tags_idx" ON "templates" USING GIN ("tags") WITH (fastupdate = off);

-- CreateIndex
CREATE INDEX "templates_search_text_idx" ON "templates" USING GIN ("search_text" gin_trgm_ops) WITH (fastupdate = off);

-- CreateIndex
CREATE INDEX "catalog_access_category_id_idx" ON "catalog_access"("category_id");

-- CreateIndex
CREATE UNIQUE INDEX "catalog_access_org_id_category_id_key" ON "catalog_access"("org_id", "category_id");

-- CreateIndex
CREATE INDEX "template_scopes_template_id_valid_from_idx" ON "template_scopes"("template_id", "valid_from");

-- CreateIndex
CREATE INDEX "template_scopes_category_id_idx" ON "template_scopes"("category_id");

-- CreateIndex
CREATE INDEX "category_privacy_category_id_valid_from_idx" ON "category_privacy"("category_id", "valid_from");

-- CreateIndex
CREATE INDEX "catalog_access_periods_org_id_category_id_valid_from_idx" ON "catalog_access_periods"("org_id", "category_id", "valid_from");

-- AddForeignKey
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "templates" ADD CONSTRAINT "templates_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "categories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "templates" ADD CONSTRAINT "templates_owner_org_id_fkey" FOREIGN KEY ("owner_org_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "template_downloads" ADD CONSTRAINT "template_downloads_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "templates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "catalog_access" ADD CONSTRAINT "catalog_access_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "catalog_access" ADD CONSTRAINT "catalog_access_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "categories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A user has a role in an organization if and only if the user belongs to one.
ALTER TABLE "users" ADD CONSTRAINT "users_org_role_check" CHECK (("org_id" IS NULL) = ("org_role" IS NULL));

-- The catalog clock. Each transaction that writes to the catalog advances it first; the row lock serializes the
-- writers. The stamp of a transaction is unique and increases in commit order, even if the system clock is set back.
ALTER TABLE "catalog_clock" ADD CONSTRAINT "catalog_clock_one_row" CHECK ("id" = 1);
INSERT INTO "catalog_clock" ("id", "at") VALUES (1, date_trunc('milliseconds', clock_timestamp()));
INSERT INTO "catalog_commits" ("at", "commit") SELECT "at", gen_random_uuid() FROM "catalog_clock";

CREATE FUNCTION catalog_record_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at <= OLD.at THEN
    RAISE EXCEPTION 'catalog_clock must advance' USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO catalog_commits (at, commit) VALUES (NEW.at, gen_random_uuid());
  RETURN NULL;
END $$;
CREATE TRIGGER catalog_record_commit AFTER UPDATE OF "at" ON "catalog_clock"
  FOR EACH ROW EXECUTE FUNCTION catalog_record_commit();

-- The stamp of the current transaction. It raises an error if the transaction has not advanced the clock.
CREATE FUNCTION catalog_stamp() RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  stamp timestamptz;
BEGIN
  SELECT at INTO stamp FROM catalog_clock WHERE xmin = pg_current_xact_id()::xid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'a catalog write must advance catalog_clock first' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  RETURN stamp;
END $$;

-- Stamps changed rows. An update that changes no column keeps the stamp. The weight limits the size of pages, and is
-- known before the template is read: some templates have a megabyte of documentation.
CREATE FUNCTION template_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.updated_at := catalog_stamp();
    NEW.created_at := NEW.updated_at;
    NEW.weight := octet_length(NEW::text);
  ELSE
    NEW.created_at := OLD.created_at;
    NEW.updated_at := OLD.updated_at;
    NEW.weight := OLD.weight;
    IF NEW IS DISTINCT FROM OLD THEN
      NEW.updated_at := catalog_stamp();
      NEW.weight := octet_length(NEW::text);
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER template_stamp BEFORE INSERT OR UPDATE ON "templates"
  FOR EACH ROW EXECUTE FUNCTION template_stamp();

CREATE FUNCTION category_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.updated_at := catalog_stamp();
    NEW.created_at := NEW.updated_at;
    NEW.shown_at := NEW.updated_at;
  ELSE
    NEW.created_at := OLD.created_at;
    NEW.updated_at := OLD.updated_at;
    NEW.shown_at := OLD.shown_at;
    IF NEW IS DISTINCT FROM OLD THEN
      NEW.updated_at := catalog_stamp();
      IF (NEW.name, NEW.slug, NEW.icon) IS DISTINCT FROM (OLD.name, OLD.slug, OLD.icon) THEN
        NEW.shown_at := NEW.updated_at;
      END IF;
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER category_stamp BEFORE INSERT OR UPDATE ON "categories"
  FOR EACH ROW EXECUTE FUNCTION category_stamp();

-- Records the history of visibility. A state that is replaced within the same transaction is not recorded.
CREATE FUNCTION template_record_scope() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.is_public, NEW.category_id, NEW.owner_org_id)
      IS NOT DISTINCT FROM (OLD.is_public, OLD.category_id, OLD.owner_org_id) THEN
    RETURN NULL;
  END IF;
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    DELETE FROM template_scopes WHERE template_id = OLD.id AND valid_to IS NULL AND valid_from = catalog_stamp();
    UPDATE template_scopes SET valid_to = catalog_stamp() WHERE template_id = OLD.id AND valid_to IS NULL;
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    INSERT INTO template_scopes (template_id, is_public, category_id, owner_org_id, valid_from)
      VALUES (NEW.id, NEW.is_public, NEW.category_id, NEW.owner_org_id, catalog_stamp());
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER template_record_scope AFTER INSERT OR UPDATE OR DELETE ON "templates"
  FOR EACH ROW EXECUTE FUNCTION template_record_scope();

CREATE FUNCTION category_record_privacy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.is_private = OLD.is_private THEN
    RETURN NULL;
  END IF;
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    DELETE FROM category_privacy WHERE category_id = OLD.id AND valid_to IS NULL AND valid_from = catalog_stamp();
    UPDATE category_privacy SET valid_to = catalog_stamp() WHERE category_id = OLD.id AND valid_to IS NULL;
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    INSERT INTO category_privacy (category_id, is_private, valid_from) VALUES (NEW.id, NEW.is_private, catalog_stamp());
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER category_record_privacy AFTER INSERT OR UPDATE OR DELETE ON "categories"
  FOR EACH ROW EXECUTE FUNCTION category_record_privacy();

CREATE FUNCTION catalog_access_record_period() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'grants are created and deleted, and cannot be updated' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM catalog_access_periods
      WHERE org_id = OLD.org_id AND category_id = OLD.category_id AND valid_to IS NULL AND valid_from = catalog_stamp();
    UPDATE catalog_access_periods SET valid_to = catalog_stamp()
      WHERE org_id = OLD.org_id AND category_id = OLD.category_id AND valid_to IS NULL;
  ELSE
    INSERT INTO catalog_access_periods (org_id, category_id, valid_from)
      VALUES (NEW.org_id, NEW.category_id, catalog_stamp());
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER catalog_access_record_period AFTER INSERT OR UPDATE OR DELETE ON "catalog_access"
  FOR EACH ROW EXECUTE FUNCTION catalog_access_record_period();

-- With any planner statistics, the current row is found by its key, and ended rows by the time of their end. A single
-- index on both would be read completely to find rows that have not ended.
CREATE UNIQUE INDEX "template_scopes_open_key" ON "template_scopes" ("template_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;
CREATE UNIQUE INDEX "category_privacy_open_key" ON "category_privacy" ("category_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;
CREATE UNIQUE INDEX "catalog_access_periods_open_key" ON "catalog_access_periods" ("org_id", "category_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;

CREATE INDEX "template_scopes_ended_idx" ON "template_scopes" ("valid_to") WHERE "valid_to" IS NOT NULL;
CREATE INDEX "category_privacy_ended_idx" ON "category_privacy" ("valid_to") WHERE "valid_to" IS NOT NULL;
CREATE INDEX "catalog_access_periods_ended_idx" ON "catalog_access_periods" ("valid_to") WHERE "valid_to" IS NOT NULL;

-- AlterTable
ALTER TABLE "organizations" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "users" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "categories" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "templates" ADD COLUMN "resource_version" INTEGER NOT NULL DEFAULT 1;

-- Triggers increase the versions, so that changes by an earlier release of the hub, by its commands and by SQL also do.
CREATE FUNCTION increase_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER organization_version BEFORE UPDATE ON "organizations" FOR EACH ROW
  WHEN ((NEW."name", NEW."slug", NEW."status") IS DISTINCT FROM (OLD."name", OLD."slug", OLD."status"))
  EXECUTE FUNCTION increase_version();

-- Sign-ins update the e-mail and the name of a user. They do not increase the version.
CREATE TRIGGER user_version BEFORE UPDATE ON "users" FOR EACH ROW
  WHEN ((NEW."role", NEW."org_id", NEW."org_role") IS DISTINCT FROM (OLD."role", OLD."org_id", OLD."org_role"))
  EXECUTE FUNCTION increase_version();

-- The use of a key does not increase its version. The expiry changes only when a key is created or reissued.
CREATE TRIGGER api_key_version BEFORE UPDATE ON "api_keys" FOR EACH ROW
  WHEN ((NEW."name", NEW."key_hash", NEW."revoked_at") IS DISTINCT FROM (OLD."name", OLD."key_hash", OLD."revoked_at"))
  EXECUTE FUNCTION increase_version();

-- Triggers run in the order of their names: category_stamp and template_stamp have already reset the columns that a
-- writer must not change.
CREATE TRIGGER category_version BEFORE UPDATE ON "categories" FOR EACH ROW
  WHEN (NEW.* IS DISTINCT FROM OLD.*)
  EXECUTE FUNCTION increase_version();

CREATE FUNCTION template_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.resource_version := OLD.resource_version + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER template_version BEFORE UPDATE ON "templates" FOR EACH ROW
  WHEN (NEW.* IS DISTINCT FROM OLD.*)
  EXECUTE FUNCTION template_version();

-- The tier of an organization is stored in its subscription.
CREATE FUNCTION subscription_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE organizations SET version = version + 1 WHERE id = NEW.org_id;
  RETURN NULL;
END $$;
CREATE TRIGGER subscription_version AFTER UPDATE ON "subscriptions" FOR EACH ROW
  WHEN (NEW."tier" IS DISTINCT FROM OLD."tier")
  EXECUTE FUNCTION subscription_version();

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "user_id" UUID,
    "email" TEXT,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "request_id" TEXT NOT NULL,
    "object_id" UUID,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_at_id_idx" ON "audit_entries"("at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_user_id_at_idx" ON "audit_entries"("user_id", "at" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_object_id_at_idx" ON "audit_entries"("object_id", "at" DESC);

ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_path_check" CHECK (char_length("path") <= 1024);

-- Entries of the audit log are immutable. Only audit_forget deletes old ones, and it records the deletion as an entry.
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('hub.audit_retention', true) = pg_current_xact_id()::text THEN
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
  PERFORM set_config('hub.audit_retention', pg_current_xact_id()::text, true);
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE at < before ORDER BY at LIMIT 10000);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('hub.audit_retention', '', true);
  IF deleted > 0 THEN
    INSERT INTO audit_entries (id, method, path, status, request_id)
      VALUES (entry, 'DELETE', 'entries before ' || to_char(before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || deleted, 200, '');
  END IF;
  RETURN deleted;
END $$;
-- Other roles that can connect to this database must not delete entries.
REVOKE ALL ON FUNCTION audit_forget(timestamptz, uuid) FROM PUBLIC;

-- CreateIndex
CREATE INDEX "organizations_created_at_id_idx" ON "organizations"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "api_keys_created_at_id_idx" ON "api_keys"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "catalog_access_created_at_id_idx" ON "catalog_access"("created_at" DESC, "id");

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
  PERFORM set_config('hub.audit_retention', pg_current_xact_id()::text, true);
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE at < before ORDER BY at LIMIT 10000);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('hub.audit_retention', '', true);
  IF deleted > 0 THEN
    INSERT INTO audit_entries (id, method, path, status, request_id)
      VALUES (entry, 'DELETE', 'entries before ' || to_char(before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || deleted, 200, '');
  END IF;
  RETURN deleted;
END $$;
-- Temporary tables of the caller come last. By default, they would come first.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION audit_forget(timestamptz, uuid) SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;

-- CreateTable
CREATE TABLE "catalog_tags" (
    "tag" TEXT NOT NULL,
    "folded" TEXT NOT NULL,

    CONSTRAINT "catalog_tags_pkey" PRIMARY KEY ("tag")
);

-- CreateIndex
CREATE INDEX "catalog_tags_folded_idx" ON "catalog_tags"("folded");

-- CreateTable
CREATE TABLE "access_revision" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "revision" UUID NOT NULL,

    CONSTRAINT "access_revision_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "access_revision" ADD CONSTRAINT "access_revision_id_check" CHECK ("id" = 1);
INSERT INTO "access_revision" ("revision") VALUES (gen_random_uuid());

-- Every transaction that changes who a credential belongs to, or what it permits, replaces the revision. A random value, unlike a
-- number, does not recur after the database is restored from a backup.
CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE access_revision SET revision = gen_random_uuid() WHERE xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END $$;

-- The triggers run at the commit, so that a transaction locks the revision last and for a short time. A new key, organization or
-- user changes nothing for existing credentials.
CREATE CONSTRAINT TRIGGER api_key_access AFTER UPDATE ON "api_keys" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."org_id", NEW."key_hash", NEW."expires_at", NEW."revoked_at")
    IS DISTINCT FROM (OLD."id", OLD."org_id", OLD."key_hash", OLD."expires_at", OLD."revoked_at"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER api_key_deleted AFTER DELETE ON "api_keys" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER organization_access AFTER UPDATE ON "organizations" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."name", NEW."slug", NEW."status") IS DISTINCT FROM (OLD."id", OLD."name", OLD."slug", OLD."status"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER subscription_access AFTER UPDATE ON "subscriptions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."org_id", NEW."tier") IS DISTINCT FROM (OLD."org_id", OLD."tier"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER subscription_deleted AFTER DELETE ON "subscriptions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER user_access AFTER UPDATE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."iss", NEW."sub", NEW."role", NEW."org_id", NEW."org_role")
    IS DISTINCT FROM (OLD."id", OLD."iss", OLD."sub", OLD."role", OLD."org_id", OLD."org_role"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER user_deleted AFTER DELETE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION access_changed();

-- AlterTable
ALTER TABLE "template_downloads" ADD COLUMN "counted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp();

-- CreateIndex
CREATE INDEX "template_downloads_counted_at_idx" ON "template_downloads"("counted_at");

-- CreateIndex
CREATE INDEX "catalog_access_periods_valid_from_idx" ON "catalog_access_periods"("valid_from");

-- Each replica reads the counts that others stored recently. A trigger sets the time, so that counts by an earlier release also have it.
CREATE FUNCTION template_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.counted_at := clock_timestamp();
  RETURN NEW;
END $$;
CREATE TRIGGER template_counted BEFORE INSERT OR UPDATE ON "template_downloads"
  FOR EACH ROW EXECUTE FUNCTION template_counted();

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "browser_hash" TEXT NOT NULL,
    "user_agent" TEXT,
    "source" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_transactions" (
    "state_hash" TEXT NOT NULL,
    "browser_hash" TEXT NOT NULL,
    "return_to" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_transactions_pkey" PRIMARY KEY ("state_hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "sessions_browser_hash_key" ON "sessions"("browser_hash");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- CreateIndex
CREATE INDEX "sign_in_transactions_expires_at_idx" ON "sign_in_transactions"("expires_at");

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateEnum
CREATE TYPE "RequestStatus" AS ENUM ('open', 'granted', 'declined');

-- CreateTable
CREATE TABLE "invitations" (
    "id" UUID NOT NULL,
    "org_id" UUID NOT NULL,
    "code_hash" TEXT NOT NULL,
    "email" TEXT,
    "org_role" "OrgRole" NOT NULL,
    "invited_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "access_requests" (
    "id" UUID NOT NULL,
    "org_id" UUID NOT NULL,
    "category_slug" TEXT,
    "template_slug" TEXT,
    "reason" TEXT NOT NULL DEFAULT '',
    "requested_by" TEXT,
    "status" "RequestStatus" NOT NULL DEFAULT 'open',
    "answer" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_requests_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitations_code_hash_key" ON "invitations"("code_hash");

-- CreateIndex
CREATE INDEX "invitations_org_id_created_at_idx" ON "invitations"("org_id", "created_at");

-- CreateIndex
CREATE INDEX "access_requests_org_id_created_at_idx" ON "access_requests"("org_id", "created_at");

-- CreateIndex
CREATE INDEX "access_requests_status_created_at_idx" ON "access_requests"("status", "created_at");

-- CreateIndex
CREATE INDEX "access_requests_created_at_idx" ON "access_requests"("created_at");

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_org_id_fkey" FOREIGN KEY ("org_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "source" TEXT;

CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);
DELETE FROM "_prisma_migrations";
INSERT INTO "_prisma_migrations" SELECT * FROM json_populate_recordset(null::"_prisma_migrations", '[{"id":"3434bb05-10a3-4e27-b611-0f8462059368","checksum":"eba47a775227226c07c655a6ea739e254574556b03886cc7e3016f3ee2b1277d","finished_at":"2026-11-25T05:00:32.476895+00:00","migration_name":"20261122182000_object_versions","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.473386+00:00","applied_steps_count":1},
{"id":"38be208b-1be6-46f7-a8a6-7c32b4c5d78e","checksum":"c524f31c9c678682277c3c7eb8af9b48eee59ef1fd7f0c04595431a709298e92","finished_at":"2026-11-25T05:00:32.492277+00:00","migration_name":"20261122224500_catalog_tags","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.48985+00:00","applied_steps_count":1},
{"id":"401973c4-cddb-44b2-8a8b-1f66eacdcf00","checksum":"6426d07b9b9efd3d77fa17f46dda9e4fbf8cf8cb1c8b2339eaa4f2a7eec2eede","finished_at":"2026-11-25T05:00:32.510792+00:00","migration_name":"20261123171500_audit_source","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.510109+00:00","applied_steps_count":1},
{"id":"5854620d-2bb2-460e-a264-e9a8fd9df356","checksum":"974de65572bb1dac23c100290762064aaadcef74cbc997d7805c70f548658a95","finished_at":"2026-11-25T05:00:32.509541+00:00","migration_name":"20261123160300_members_and_requests","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.504834+00:00","applied_steps_count":1},
{"id":"92b05132-6b3d-4b6a-900c-58d8b60776b6","checksum":"c23f6bd8355d0bd2e96b62f72b9bbb7db9215b016dcc72e33edf29d0ae505bb3","finished_at":"2026-11-25T05:00:32.4892+00:00","migration_name":"20261122223510_schema_info","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.486087+00:00","applied_steps_count":1},
{"id":"a5cfc21c-2045-4f27-935e-9cce9d2b93ed","checksum":"d57c36a5670ddb7fb9cc1960f7df22df100d7a24522f960c36fd969b45284453","finished_at":"2026-11-25T05:00:32.48237+00:00","migration_name":"20261122183000_audit_log","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.477347+00:00","applied_steps_count":1},
{"id":"be01a75f-c090-4892-9f9c-0bdd434eb50c","checksum":"ac5d47184bab7c1b66f6d6395ea819b1cc2f0c4bad4a2cb8ae72e0f07f368dff","finished_at":"2026-11-25T05:00:32.504089+00:00","migration_name":"20261123160200_browser_sessions","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.500028+00:00","applied_steps_count":1},
{"id":"c9e63234-d4bf-4729-98ba-4e883cf2e0f5","checksum":"4c1ba6a1ffb9f790ee76012fb9e9a8d41f17f3e0f666ec46535334a2bdef3b3e","finished_at":"2026-11-25T05:00:32.49665+00:00","migration_name":"20261123013500_access_revision","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.492848+00:00","applied_steps_count":1},
{"id":"e84f28c0-d138-470e-8164-7fe36b958529","checksum":"032b254fc35d915651cbe13c2145001b70a4e41e25d46d23abbd0c8bb0deea2e","finished_at":"2026-11-25T05:00:32.499279+00:00","migration_name":"20261123015500_catalog_index","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.497208+00:00","applied_steps_count":1},
{"id":"ea5676cf-4ce0-470a-b6c8-5221b0f9bc54","checksum":"cf026c8d461e236356d7b4daafa886d017156b6b40e465b66f9070d3a6691436","finished_at":"2026-11-25T05:00:32.461948+00:00","migration_name":"00000000000000_initial","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.427425+00:00","applied_steps_count":1},
{"id":"ec6f52dd-263a-4054-83a1-4a64e62ab1de","checksum":"16283afc7f3bed6a94b381c016cb09ec39b4099bfe064810b196a0e2f6289d21","finished_at":"2026-11-25T05:00:32.48557+00:00","migration_name":"20261122184500_admin_list_indexes","logs":null,"rolled_back_at":null,"started_at":"2026-11-25T05:00:32.482948+00:00","applied_steps_count":1}]');
DELETE FROM "access_revision";
INSERT INTO "access_revision" SELECT * FROM json_populate_recordset(null::"access_revision", '[{"id":1,"revision":"d685dab7-39a7-4ec8-8d16-7eda7a916b86"}]');
DELETE FROM "api_keys";
INSERT INTO "api_keys" SELECT * FROM json_populate_recordset(null::"api_keys", '[{"id":"01a21113-b4c5-742c-9a73-d16e02900075","org_id":"01a21113-b262-742c-ac36-1e617201759e","name":"demo fleet","key_hash":"fe0fff1e652ff8d023e3dff59df4fd256f85b613547b185e07b4394588f1e488","key_prefix":"svcc_3xJ3QbM","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":"2026-11-25T05:00:38.399+00:00","created_at":"2026-11-25T05:00:33.848+00:00","version":1}]');
DELETE FROM "audit_entries";
INSERT INTO "audit_entries" SELECT * FROM json_populate_recordset(null::"audit_entries", '[{"id":"01a21113-bdb1-744c-9533-c7e2c9ebfc82","at":"2026-11-25T05:00:36.146+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"a1e8fb41-6cca-4775-b59c-f071490d8222","object_id":"01a21113-b421-70dc-809f-3de7bb1c555b","source":"127.0.0.1"},
{"id":"01a21113-bdbb-769d-ae31-45cf1c39bd9f","at":"2026-11-25T05:00:36.156+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"91c58091-dfc2-4946-934e-7074eb9ec9f7","object_id":"01a21113-b425-7131-a50c-d96bff3c7fae","source":"127.0.0.1"},
{"id":"01a21113-bdc2-7055-94d2-df0bdde28a47","at":"2026-11-25T05:00:36.163+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"b029e202-99fe-4720-9d4e-699ee8db6bdc","object_id":"01a21113-b421-70dc-809f-4034fc053da3","source":"127.0.0.1"},
{"id":"01a21113-bdca-7619-a92d-ac2c7bc1ecbe","at":"2026-11-25T05:00:36.17+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"5ec134f3-80d1-43bc-ae40-dbf627e50ea0","object_id":"01a21113-b421-70dc-809f-461e78acf33e","source":"127.0.0.1"},
{"id":"01a21113-bdd0-73df-b5c4-1aa3b16375f8","at":"2026-11-25T05:00:36.177+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"b25e75a1-4fbc-435b-919f-499519ed460b","object_id":"01a21113-b421-70dc-809f-482e02948b55","source":"127.0.0.1"},
{"id":"01a21113-bdd6-713c-8992-7aa0786f0415","at":"2026-11-25T05:00:36.183+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"ede666eb-a377-4a87-a85b-e71bed50401b","object_id":"01a21113-b421-70dc-809f-4cbae6ac6e26","source":"127.0.0.1"},
{"id":"01a21113-bddc-72f9-89c5-5d14a719fb9e","at":"2026-11-25T05:00:36.189+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"5d73bafd-105d-4c4f-93dc-747eab7160c6","object_id":"01a21113-b421-70dc-809f-55ca0ffdf2b2","source":"127.0.0.1"},
{"id":"01a21113-bde3-706e-804a-6f1f38cbbe7a","at":"2026-11-25T05:00:36.196+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"79a54f5a-0841-497e-8a69-21ad79b7c334","object_id":"01a21113-b421-70dc-809f-5c197c1325b6","source":"127.0.0.1"},
{"id":"01a21113-bdeb-7217-99be-9cae8bd846f1","at":"2026-11-25T05:00:36.204+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"f461bedd-c3bf-4723-89c9-390dd96bd830","object_id":"01a21113-b421-70dc-809f-667bce48b214","source":"127.0.0.1"},
{"id":"01a21113-bdf2-75d7-9f40-b4c911802b6e","at":"2026-11-25T05:00:36.211+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"f4125875-dcee-47fe-8163-fcc90c267509","object_id":"01a21113-b421-70dc-809f-62edb21e1fa3","source":"127.0.0.1"},
{"id":"01a21113-bdfb-752c-971b-0830f9521c7f","at":"2026-11-25T05:00:36.22+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"0cc60708-be1f-47f7-959c-2f89b65258fc","object_id":"01a21113-b421-70dc-809f-6ae58b9a4783","source":"127.0.0.1"},
{"id":"01a21113-be01-768a-aa45-a98277be8245","at":"2026-11-25T05:00:36.226+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"d2ea2b06-801f-4663-84b9-25e747f6fa8f","object_id":"01a21113-b421-70dc-809f-6dcb5d33d06f","source":"127.0.0.1"},
{"id":"01a21113-be07-7740-8b6d-877dcebc7441","at":"2026-11-25T05:00:36.233+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"597b298a-d2ea-45ec-9728-3779680dd8ba","object_id":"01a21113-b421-70dc-809f-732a033cfafd","source":"127.0.0.1"},
{"id":"01a21113-be0f-702c-9c23-d57d144055ff","at":"2026-11-25T05:00:36.24+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"d5ce89ff-e9b0-45a0-9a83-76c716d5fda6","object_id":"01a21113-b421-70dc-809f-74d0f7147b37","source":"127.0.0.1"},
{"id":"01a21113-be16-702f-beee-787454dbcc36","at":"2026-11-25T05:00:36.247+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"671edbd8-00e3-4b87-a422-7ad02c02cc4b","object_id":"01a21113-b425-7131-a50d-02c42ec59526","source":"127.0.0.1"},
{"id":"01a21113-be1b-705c-8e24-10e1daf4494e","at":"2026-11-25T05:00:36.252+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"026b224d-012d-461d-9183-940ba3fcd4af","object_id":"01a21113-b421-70dc-809f-7b46c9ac55d1","source":"127.0.0.1"},
{"id":"01a21113-be22-757f-94b9-3d6046fc28d2","at":"2026-11-25T05:00:36.259+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"21cc6f4f-8053-4192-9310-9ebc57da1cde","object_id":"01a21113-b421-70dc-809f-7ecabd90e3d4","source":"127.0.0.1"},
{"id":"01a21113-be28-72a8-87f6-06bbc4796ce4","at":"2026-11-25T05:00:36.264+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"e98f23a9-2650-47ef-8d38-d39d2d143c1b","object_id":"01a21113-b421-70dc-809f-821c46c55efe","source":"127.0.0.1"},
{"id":"01a21113-be2d-72fc-8f6b-aed3031c5475","at":"2026-11-25T05:00:36.27+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"f164231c-01e4-4161-aaf4-f5c741886ff4","object_id":"01a21113-b425-7131-a50c-de0ff0224edc","source":"127.0.0.1"},
{"id":"01a21113-be33-735f-8968-4cc707185b3b","at":"2026-11-25T05:00:36.276+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"87fc7d99-0605-48bd-8af6-a487747f9298","object_id":"01a21113-b425-7131-a50c-e327b1da9a93","source":"127.0.0.1"},
{"id":"01a21113-be39-7207-86b7-454b99cc77cc","at":"2026-11-25T05:00:36.282+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"608f308b-a81e-48b6-976d-e9504fcb954b","object_id":"01a21113-b425-7131-a50c-e400c985e08d","source":"127.0.0.1"},
{"id":"01a21113-be3f-7788-98c3-569e08d23b4f","at":"2026-11-25T05:00:36.288+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"bdfdb200-e9a6-4ef2-8952-bf0d082527ee","object_id":"01a21113-b425-7131-a50c-e824dad27311","source":"127.0.0.1"},
{"id":"01a21113-be46-7731-bfd4-36bc049fb259","at":"2026-11-25T05:00:36.295+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"52db9cdc-307f-4b89-999e-31e83aace620","object_id":"01a21113-b425-7131-a50c-eff9b92f63d3","source":"127.0.0.1"},
{"id":"01a21113-be4d-7040-9953-b7100a718a3e","at":"2026-11-25T05:00:36.301+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"7fb508d4-c2fd-4c0d-873d-53c8fb5ae7af","object_id":"01a21113-b425-7131-a50c-f3ac18dcd1ae","source":"127.0.0.1"},
{"id":"01a21113-be53-7148-8602-446596b41f24","at":"2026-11-25T05:00:36.307+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"f4ff8ba7-4fce-40c1-b441-9bbdcb79bd12","object_id":"01a21113-b425-7131-a50c-f42a419a5b6e","source":"127.0.0.1"},
{"id":"01a21113-be59-70ca-b1b5-088774b8d657","at":"2026-11-25T05:00:36.314+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"a081268f-9803-481b-b486-33e0a76f284a","object_id":"01a21113-b425-7131-a50c-fb22ef902181","source":"127.0.0.1"},
{"id":"01a21113-be5f-70dc-a1d1-e24a72c2cb0c","at":"2026-11-25T05:00:36.32+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"28b00c55-22f3-41d0-8e32-5fe6003bafe5","object_id":"01a21113-b425-7131-a50c-fc3340448550","source":"127.0.0.1"},
{"id":"01a21113-be66-745f-9abf-16040a237c25","at":"2026-11-25T05:00:36.327+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"79422036-4b17-4fcb-9349-2e92ed47ff14","object_id":"01a21113-b425-7131-a50d-05f8b442982d","source":"127.0.0.1"},
{"id":"01a21113-be6c-7721-aa4e-4ecafd4bccf6","at":"2026-11-25T05:00:36.332+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"337822d4-3bd0-42cf-880b-00d46a8b5106","object_id":"01a21113-b425-7131-a50d-08b6166dfdfd","source":"127.0.0.1"},
{"id":"01a21113-be71-73b4-95a2-faea0bdba86e","at":"2026-11-25T05:00:36.338+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"7ae681d3-c425-4b97-8c87-cb273e0badbe","object_id":"01a21113-b425-7131-a50d-0fafdf26846f","source":"127.0.0.1"},
{"id":"01a21113-be79-7099-8944-65187eaa7c3e","at":"2026-11-25T05:00:36.345+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"11f07c37-c725-4c23-b858-c8cc5a55c89a","object_id":"01a21113-b425-7131-a50d-117aff467828","source":"127.0.0.1"},
{"id":"01a21113-be80-709b-a913-6e75855b5dab","at":"2026-11-25T05:00:36.353+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"a0e58a9b-f727-4c0f-a68c-582d5c464b70","object_id":"01a21113-b425-7131-a50d-15af09c4a82b","source":"127.0.0.1"},
{"id":"01a21113-be8b-766d-995d-f768f8ecf5c8","at":"2026-11-25T05:00:36.364+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"c43d24dc-185c-4b58-93ff-99ae001493b0","object_id":"01a21113-b425-7131-a50d-185f5523d497","source":"127.0.0.1"},
{"id":"01a21113-be90-73cd-b3fa-9edbb76168aa","at":"2026-11-25T05:00:36.369+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"676c0fea-08e3-4124-bbc5-4b58cb608256","object_id":"01a21113-b425-7131-a50d-1c4ed5c8ab3a","source":"127.0.0.1"},
{"id":"01a21113-be96-77c7-be20-ea260cb05983","at":"2026-11-25T05:00:36.375+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"a13c1e8d-d1ba-437f-b878-74f7c4ee1db5","object_id":"01a21113-b425-7131-a50d-21142b41e61f","source":"127.0.0.1"},
{"id":"01a21113-be9d-71eb-8596-8c7396a909c6","at":"2026-11-25T05:00:36.381+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"7cd6cf0d-7508-424d-92d4-6ed84f386683","object_id":"01a21113-b425-7131-a50d-24cb9daee295","source":"127.0.0.1"},
{"id":"01a21113-bea2-7677-b7d5-b641e080116d","at":"2026-11-25T05:00:36.387+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"8b787026-a12a-4dae-b869-84ac37a64026","object_id":"01a21113-b425-7131-a50d-298a2983e40b","source":"127.0.0.1"},
{"id":"01a21113-bea7-7331-94a7-36a94550bcca","at":"2026-11-25T05:00:36.392+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"b458bc5c-e319-489c-b0ca-d8e2cfdc7118","object_id":"01a21113-b425-7131-a50d-2c8e53457cc3","source":"127.0.0.1"},
{"id":"01a21113-beac-73c2-b3af-3efc3327b76d","at":"2026-11-25T05:00:36.397+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"61820c9e-521c-4908-98b6-2e1bf29400c0","object_id":"01a21113-b421-70dc-809f-586ae12e1a3f","source":"127.0.0.1"},
{"id":"01a21113-beb1-7126-9c4e-72f7bbee1d62","at":"2026-11-25T05:00:36.402+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"bae34c37-7443-4c44-91e7-456294b9db16","object_id":"01a21113-b425-7131-a50d-7d7f4607bd06","source":"127.0.0.1"},
{"id":"01a21113-beb6-725e-88e4-8fb682f17f75","at":"2026-11-25T05:00:36.407+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"0b1c98ff-f12b-498d-b8bd-348279fe4db2","object_id":"01a21113-b425-7131-a50d-34bb5d963a21","source":"127.0.0.1"},
{"id":"01a21113-bebc-74ea-b83f-7393e637a3e7","at":"2026-11-25T05:00:36.412+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"9737f600-06cd-4a82-b5cd-1e974efac737","object_id":"01a21113-b425-7131-a50d-399da2d4dfbb","source":"127.0.0.1"},
{"id":"01a21113-bec1-71c2-a3cc-356fe1dd1c87","at":"2026-11-25T05:00:36.418+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"920ac0ea-1fd5-4455-aac2-533a1df6ca7b","object_id":"01a21113-b425-7131-a50d-3f48526ed6c0","source":"127.0.0.1"},
{"id":"01a21113-bec9-74eb-b8ab-e0118efcc762","at":"2026-11-25T05:00:36.425+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"060f4681-90fe-4541-b7e5-8760ee447229","object_id":"01a21113-b425-7131-a50d-953e80331a89","source":"127.0.0.1"},
{"id":"01a21113-becf-76ef-8069-2cad97d59788","at":"2026-11-25T05:00:36.432+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"95228ba4-cf2c-46fc-9696-ce33636bd083","object_id":"01a21113-b425-7131-a50d-4037f65dd777","source":"127.0.0.1"},
{"id":"01a21113-bed4-70cf-adb8-915297810b9b","at":"2026-11-25T05:00:36.437+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"dddb4d29-694f-4242-ae9b-b3f7611ce85b","object_id":"01a21113-b425-7131-a50d-4b1873609567","source":"127.0.0.1"},
{"id":"01a21113-bed9-7679-8d94-d6f0d70bdd98","at":"2026-11-25T05:00:36.442+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"895e043c-d5fe-4873-83ac-88c38d548de3","object_id":"01a21113-b425-7131-a50d-532c5593c9ff","source":"127.0.0.1"},
{"id":"01a21113-bede-77d7-b315-243d884b413d","at":"2026-11-25T05:00:36.447+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"90728cd5-5657-4b48-872e-a22ba2587932","object_id":"01a21113-b425-7131-a50d-55331b153a20","source":"127.0.0.1"},
{"id":"01a21113-bee3-724f-85ed-9f9bb56a62ce","at":"2026-11-25T05:00:36.452+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"8a8f004d-22ec-4d87-bdee-e5cca39b3f10","object_id":"01a21113-b425-7131-a50d-5920f8cea8e6","source":"127.0.0.1"},
{"id":"01a21113-bee9-76ac-b6c2-49fe543060de","at":"2026-11-25T05:00:36.458+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"e2d7b235-b59e-47bf-9957-651bbe27c1ac","object_id":"01a21113-b425-7131-a50d-6416c791ff5e","source":"127.0.0.1"},
{"id":"01a21113-beef-7463-90ec-6edba9347a46","at":"2026-11-25T05:00:36.464+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"6d15849d-e861-464c-9243-00c9f01ea7b0","object_id":"01a21113-b425-7131-a50d-68f3074459dd","source":"127.0.0.1"},
{"id":"01a21113-bef4-723b-aa23-dd5fd8b64e5c","at":"2026-11-25T05:00:36.469+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"9f179136-aa89-4986-8471-a61373d4f728","object_id":"01a21113-b425-7131-a50d-6cfa2a1fece9","source":"127.0.0.1"},
{"id":"01a21113-bef9-7027-b396-6e95a4904eb6","at":"2026-11-25T05:00:36.474+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"43a34ecb-671f-421d-8670-fb6b4eedb005","object_id":"01a21113-b425-7131-a50d-73d76016f90a","source":"127.0.0.1"},
{"id":"01a21113-beff-72cc-b836-49745253c9ab","at":"2026-11-25T05:00:36.479+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"35508698-059d-4ded-a66e-79bc08fbd242","object_id":"01a21113-b425-7131-a50d-760ca06d56f9","source":"127.0.0.1"},
{"id":"01a21113-bf04-708f-b194-ef818860879e","at":"2026-11-25T05:00:36.485+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"27f7ef31-3bbb-47f5-989e-d36bb7b8e8a1","object_id":"01a21113-b425-7131-a50d-7a3feb7d083a","source":"127.0.0.1"},
{"id":"01a21113-bf09-77eb-85fa-17ae25f073aa","at":"2026-11-25T05:00:36.491+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"d9f931e0-2e23-4bde-b384-36bb39f27363","object_id":"01a21113-b425-7131-a50d-80f763410b16","source":"127.0.0.1"},
{"id":"01a21113-bf12-7605-9dd3-f60eb8a2411a","at":"2026-11-25T05:00:36.499+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"39b641d5-f147-4edb-b1d6-db2de64b0f06","object_id":"01a21113-b425-7131-a50d-85137d27bea6","source":"127.0.0.1"},
{"id":"01a21113-bf17-7009-a2d1-3512e8b0079a","at":"2026-11-25T05:00:36.504+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"cd1cf16d-c149-4c50-8f0f-7ff4f24737b1","object_id":"01a21113-b425-7131-a50d-8adfe944781c","source":"127.0.0.1"},
{"id":"01a21113-bf1c-737b-8166-82e85e24e290","at":"2026-11-25T05:00:36.509+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"150ca442-8a2d-4123-9d21-3305e1cdfe0a","object_id":"01a21113-b425-7131-a50d-8f2a9b964231","source":"127.0.0.1"},
{"id":"01a21113-bf21-76e9-b957-e29141a5d502","at":"2026-11-25T05:00:36.514+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"90b23c39-c6ad-4baa-8177-78675771800d","object_id":"01a21113-b425-7131-a50d-91e2cb9e7fa6","source":"127.0.0.1"},
{"id":"01a21113-bf39-71a8-bb7f-a79ed0dde0fb","at":"2026-11-25T05:00:36.538+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"POST","path":"/api/v1/admin/categories","status":201,"request_id":"b826df96-423d-4d39-b751-8c038f16d840","object_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","source":"127.0.0.1"},
{"id":"01a21113-bf64-760a-a626-e6772536d0cd","at":"2026-11-25T05:00:36.581+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"PUT","path":"/api/v1/admin/templates","status":200,"request_id":"8f80c4cb-3b73-4dfc-831d-5659d9c0ccc0","object_id":"01a21113-b421-70dc-809f-5399df7365d0","source":"127.0.0.1"},
{"id":"01a21113-bf74-7537-85b1-2befd1fb91fa","at":"2026-11-25T05:00:36.597+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"POST","path":"/api/v1/admin/catalog-access","status":201,"request_id":"41dba1f6-53fa-41c4-a5b6-7b7a7b75ece7","object_id":"01a21113-bf70-7676-960b-489427e6da72","source":"127.0.0.1"},
{"id":"01a21113-bfd9-77fe-ab7f-cd10648b0db7","at":"2026-11-25T05:00:36.698+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"PUT","path":"/api/v1/admin/templates","status":200,"request_id":"b3037abc-45ba-4561-ac4b-365ab201e6e7","object_id":"01a21113-b425-7131-a50d-5c133f8e25be","source":"127.0.0.1"},
{"id":"01a21113-c023-72cb-bbb5-dbde5eef2c89","at":"2026-11-25T05:00:36.771+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/catalog-access","status":204,"request_id":"ace79567-b17c-4cb4-9632-d07e2d0e5309","object_id":"01a21113-bf70-7676-960b-489427e6da72","source":"127.0.0.1"},
{"id":"01a21113-c029-755f-9b66-d308b8a2cc7e","at":"2026-11-25T05:00:36.778+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"DELETE","path":"/api/v1/admin/templates","status":204,"request_id":"394cdaeb-7af7-42e4-a841-8b6d4b1576a1","object_id":"01a21113-b425-7131-a50d-4c84a94f2c10","source":"127.0.0.1"},
{"id":"01a21113-c068-77fd-9a46-36d6fcd9262d","at":"2026-11-25T05:00:36.841+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"POST","path":"/api/v1/admin/catalog-access","status":201,"request_id":"0ff9861e-0167-40c2-8a24-e3d18ea133c9","object_id":"01a21113-c066-77ca-993e-70951d045f2a","source":"127.0.0.1"},
{"id":"01a21113-c0cc-7392-b1be-f20757b870bd","at":"2026-11-25T05:00:36.941+00:00","user_id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","email":"admin@example.test","method":"POST","path":"/api/v1/admin/templates","status":201,"request_id":"0d841c7d-8020-4182-bac0-5db99a2f06b7","object_id":"01a21113-c0c5-76f5-b37a-961978e156df","source":"127.0.0.1"}]');
DELETE FROM "catalog_access";
INSERT INTO "catalog_access" SELECT * FROM json_populate_recordset(null::"catalog_access", '[{"id":"01a21113-c066-77ca-993e-70951d045f2a","org_id":"01a21113-b262-742c-ac36-1e617201759e","category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","created_at":"2026-11-25T05:00:36.837+00:00"}]');
DELETE FROM "catalog_access_periods";
INSERT INTO "catalog_access_periods" SELECT * FROM json_populate_recordset(null::"catalog_access_periods", '[{"id":1,"org_id":"01a21113-b262-742c-ac36-1e617201759e","category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","valid_from":"2026-11-25T05:00:36.589+00:00","valid_to":"2026-11-25T05:00:36.767+00:00"},
{"id":2,"org_id":"01a21113-b262-742c-ac36-1e617201759e","category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","valid_from":"2026-11-25T05:00:36.837+00:00","valid_to":null}]');
DELETE FROM "catalog_clock";
INSERT INTO "catalog_clock" SELECT * FROM json_populate_recordset(null::"catalog_clock", '[{"id":1,"at":"2026-11-25T05:00:36.929+00:00","floor":null}]');
DELETE FROM "catalog_commits";
INSERT INTO "catalog_commits" SELECT * FROM json_populate_recordset(null::"catalog_commits", '[{"at":"2026-11-25T05:00:32.456+00:00","commit":"4336220c-95cd-4ed1-9b0a-35d6b5996005"},
{"at":"2026-11-25T05:00:33.482+00:00","commit":"24ac4af6-28a3-41a9-8969-ba8ff765e86d"},
{"at":"2026-11-25T05:00:36.134+00:00","commit":"dade19df-8583-4b27-aaab-8ed4182168cf"},
{"at":"2026-11-25T05:00:36.153+00:00","commit":"f6df4802-8983-4acf-bb1f-9cb3bf1ec5e8"},
{"at":"2026-11-25T05:00:36.16+00:00","commit":"aefbb948-882d-4004-9486-19a2b167e6cd"},
{"at":"2026-11-25T05:00:36.167+00:00","commit":"a9c04fcb-fb25-46f7-9a3a-0b375ae40a03"},
{"at":"2026-11-25T05:00:36.174+00:00","commit":"668b0cd9-a4cc-4c0b-87ea-62e2bb6d672d"},
{"at":"2026-11-25T05:00:36.18+00:00","commit":"af53e6c5-e8b0-46fc-886c-282ba29cf9fe"},
{"at":"2026-11-25T05:00:36.186+00:00","commit":"4a9505a6-22ec-4df9-b89e-462884926a4c"},
{"at":"2026-11-25T05:00:36.193+00:00","commit":"44e73319-d4c0-4b95-9de9-e22b7b5ea102"},
{"at":"2026-11-25T05:00:36.201+00:00","commit":"a6068b33-139a-4fd6-a77b-b01afbc06644"},
{"at":"2026-11-25T05:00:36.208+00:00","commit":"6aac73e9-9e29-440b-8b62-97676fc1e092"},
{"at":"2026-11-25T05:00:36.217+00:00","commit":"9b838db3-2e39-4aa8-9b65-a5f72925bdf9"},
{"at":"2026-11-25T05:00:36.223+00:00","commit":"cc40e939-3bed-4bf0-bd6e-3b776914e9ab"},
{"at":"2026-11-25T05:00:36.229+00:00","commit":"3b12ec4d-c0df-41be-b641-c66720de9237"},
{"at":"2026-11-25T05:00:36.237+00:00","commit":"a3fec2cb-cd7f-4204-be35-bf06d47e0e82"},
{"at":"2026-11-25T05:00:36.243+00:00","commit":"7896c78d-f394-4040-b149-17df41c939da"},
{"at":"2026-11-25T05:00:36.249+00:00","commit":"cefc34b6-0446-42d7-b9bd-688d74b817f9"},
{"at":"2026-11-25T05:00:36.256+00:00","commit":"57eade9b-81d7-42e2-82fa-d830fe5056e2"},
{"at":"2026-11-25T05:00:36.262+00:00","commit":"85022815-8d2b-402b-a09f-caa20c46a461"},
{"at":"2026-11-25T05:00:36.267+00:00","commit":"5c73fd9c-94bf-4791-a155-8a79970849a4"},
{"at":"2026-11-25T05:00:36.273+00:00","commit":"4ad8e704-7542-4c15-9f0e-30c811168772"},
{"at":"2026-11-25T05:00:36.279+00:00","commit":"57c22dd5-f4ef-498b-a0c9-4ad346c02344"},
{"at":"2026-11-25T05:00:36.285+00:00","commit":"0be53285-77c1-496a-8560-3bb23ad196c5"},
{"at":"2026-11-25T05:00:36.291+00:00","commit":"8244e80e-9e41-4865-8124-829743912eeb"},
{"at":"2026-11-25T05:00:36.298+00:00","commit":"70150b09-606e-4380-a159-f88cff0204f9"},
{"at":"2026-11-25T05:00:36.305+00:00","commit":"23e0f622-cd02-42c4-a203-ef10c6b7daa8"},
{"at":"2026-11-25T05:00:36.311+00:00","commit":"f63f5a4d-3fed-434c-8b0e-c2713944e510"},
{"at":"2026-11-25T05:00:36.317+00:00","commit":"6d56daa8-293a-4868-8764-095751458e63"},
{"at":"2026-11-25T05:00:36.324+00:00","commit":"5698b92a-9879-42da-a27f-3d4101668882"},
{"at":"2026-11-25T05:00:36.33+00:00","commit":"48cceb23-f62c-4152-9856-3d3d99dbd757"},
{"at":"2026-11-25T05:00:36.335+00:00","commit":"b49f784a-ec91-47ec-a0a9-e502fafb39b4"},
{"at":"2026-11-25T05:00:36.343+00:00","commit":"2ab4da40-856d-458f-841f-dad0c8c87950"},
{"at":"2026-11-25T05:00:36.349+00:00","commit":"0654dbdf-ef03-4db1-92da-17f36c0cb315"},
{"at":"2026-11-25T05:00:36.361+00:00","commit":"5d7e7981-86cd-44e3-b1e6-d2ee9adacfcd"},
{"at":"2026-11-25T05:00:36.366+00:00","commit":"fccd03a0-8c32-4c2e-b58b-9d2fb6b29b85"},
{"at":"2026-11-25T05:00:36.373+00:00","commit":"23af41b7-3464-4a26-9d40-2d453201c7ea"},
{"at":"2026-11-25T05:00:36.379+00:00","commit":"372b405f-e988-4e97-9af6-940d5f1d5d62"},
{"at":"2026-11-25T05:00:36.384+00:00","commit":"cb22bfe6-ca52-4eab-a119-3350fb9cf526"},
{"at":"2026-11-25T05:00:36.39+00:00","commit":"b6d82563-164e-4211-9614-086c1deefc27"},
{"at":"2026-11-25T05:00:36.394+00:00","commit":"2cee3c26-464c-4471-97a8-a5f38768a4c0"},
{"at":"2026-11-25T05:00:36.4+00:00","commit":"535957ed-4d17-4c68-ba9a-7c8c4713d85f"},
{"at":"2026-11-25T05:00:36.405+00:00","commit":"a8af1c72-089b-4b30-901c-1b896427f6b1"},
{"at":"2026-11-25T05:00:36.41+00:00","commit":"9d23daa3-f3fc-4b49-8313-c4b872102684"},
{"at":"2026-11-25T05:00:36.416+00:00","commit":"31c87e1c-cb01-440f-a401-f98040c0376a"},
{"at":"2026-11-25T05:00:36.422+00:00","commit":"d528a83a-bc21-4155-8453-3dae8c993fbe"},
{"at":"2026-11-25T05:00:36.429+00:00","commit":"f493b5ee-6fa3-4622-aaf7-c6f33b941c57"},
{"at":"2026-11-25T05:00:36.434+00:00","commit":"4393bacb-18e9-43ee-ad28-5b768a590e68"},
{"at":"2026-11-25T05:00:36.44+00:00","commit":"f797fdf7-359c-4f82-ba2f-e8a289a17aae"},
{"at":"2026-11-25T05:00:36.445+00:00","commit":"d6270a64-7a95-438f-8b40-ec6a388a7070"},
{"at":"2026-11-25T05:00:36.45+00:00","commit":"707b65f4-2bce-4d79-afeb-47d3f28384fb"},
{"at":"2026-11-25T05:00:36.455+00:00","commit":"9522e225-ef55-4117-984a-1eeeff3e23df"},
{"at":"2026-11-25T05:00:36.46+00:00","commit":"6ec352f8-e3ca-4440-a834-dba62d4d8545"},
{"at":"2026-11-25T05:00:36.466+00:00","commit":"e86d6728-9b48-46cc-83ad-7353ad90346c"},
{"at":"2026-11-25T05:00:36.472+00:00","commit":"daf8caae-1c32-4823-9435-f7994b0afb64"},
{"at":"2026-11-25T05:00:36.477+00:00","commit":"fd38864e-a4b1-44e5-82c8-fe1006f13587"},
{"at":"2026-11-25T05:00:36.482+00:00","commit":"d0b4f167-7df7-4e82-8e28-f84115782fb4"},
{"at":"2026-11-25T05:00:36.488+00:00","commit":"bb8059bb-99f0-49b3-82d8-c50efede37a2"},
{"at":"2026-11-25T05:00:36.496+00:00","commit":"88bf5afe-29bf-48ea-8775-0b2469fe85e1"},
{"at":"2026-11-25T05:00:36.502+00:00","commit":"843eaacb-694e-4322-ae15-87972a5e8bf9"},
{"at":"2026-11-25T05:00:36.506+00:00","commit":"f03af489-970e-4c71-8e17-072a5dd625bd"},
{"at":"2026-11-25T05:00:36.511+00:00","commit":"325c53ff-5705-4be5-bde9-f8c09f48ee0b"},
{"at":"2026-11-25T05:00:36.53+00:00","commit":"2c039171-11c3-4233-b2ab-cd9ff99017a0"},
{"at":"2026-11-25T05:00:36.569+00:00","commit":"0e971ed7-8676-49c2-91d9-f15ec2319aa0"},
{"at":"2026-11-25T05:00:36.589+00:00","commit":"ea1c2d51-4335-4147-8325-ce476bb2ceac"},
{"at":"2026-11-25T05:00:36.69+00:00","commit":"eb102b93-0c7f-4a68-be07-456bc2cc0e13"},
{"at":"2026-11-25T05:00:36.767+00:00","commit":"2bbd0483-ee05-4264-a3e5-046f81a0287c"},
{"at":"2026-11-25T05:00:36.775+00:00","commit":"1c62d6c1-04ff-46a2-a1f1-7a4dc3d40714"},
{"at":"2026-11-25T05:00:36.837+00:00","commit":"a2667f9e-82d8-4795-8dc2-d4f8a6e05000"},
{"at":"2026-11-25T05:00:36.929+00:00","commit":"f6c8605d-c944-4822-9367-3f0fc3b3c617"}]');
DELETE FROM "catalog_tags";
INSERT INTO "catalog_tags" SELECT * FROM json_populate_recordset(null::"catalog_tags", '[{"tag":"agents","folded":"agents"},
{"tag":"amqp","folded":"amqp"},
{"tag":"analytics","folded":"analytics"},
{"tag":"automation","folded":"automation"},
{"tag":"backup","folded":"backup"},
{"tag":"cache","folded":"cache"},
{"tag":"chat","folded":"chat"},
{"tag":"ci","folded":"ci"},
{"tag":"code-review","folded":"code-review"},
{"tag":"containers","folded":"containers"},
{"tag":"copy","folded":"copy"},
{"tag":"cpu","folded":"cpu"},
{"tag":"dashboards","folded":"dashboards"},
{"tag":"data-science","folded":"data-science"},
{"tag":"database","folded":"database"},
{"tag":"datasets","folded":"datasets"},
{"tag":"development","folded":"development"},
{"tag":"diffusion","folded":"diffusion"},
{"tag":"distributed","folded":"distributed"},
{"tag":"document","folded":"document"},
{"tag":"editor","folded":"editor"},
{"tag":"embeddings","folded":"embeddings"},
{"tag":"experiments","folded":"experiments"},
{"tag":"fine-tuning","folded":"fine-tuning"},
{"tag":"flux","folded":"flux"},
{"tag":"gateway","folded":"gateway"},
{"tag":"gguf","folded":"gguf"},
{"tag":"git","folded":"git"},
{"tag":"gitea","folded":"gitea"},
{"tag":"github","folded":"github"},
{"tag":"gitlab","folded":"gitlab"},
{"tag":"gpu","folded":"gpu"},
{"tag":"graphql","folded":"graphql"},
{"tag":"home-assistant","folded":"home-assistant"},
{"tag":"http","folded":"http"},
{"tag":"hugging-face","folded":"hugging-face"},
{"tag":"ide","folded":"ide"},
{"tag":"identity","folded":"identity"},
{"tag":"image","folded":"image"},
{"tag":"inference","folded":"inference"},
{"tag":"job","folded":"job"},
{"tag":"jupyter","folded":"jupyter"},
{"tag":"kafka","folded":"kafka"},
{"tag":"key-value","folded":"key-value"},
{"tag":"labelling","folded":"labelling"},
{"tag":"llm","folded":"llm"},
{"tag":"logs","folded":"logs"},
{"tag":"lora","folded":"lora"},
{"tag":"low-code","folded":"low-code"},
{"tag":"mariadb","folded":"mariadb"},
{"tag":"messaging","folded":"messaging"},
{"tag":"metrics","folded":"metrics"},
{"tag":"mlops","folded":"mlops"},
{"tag":"mongodb","folded":"mongodb"},
{"tag":"monitoring","folded":"monitoring"},
{"tag":"mysql","folded":"mysql"},
{"tag":"nosql","folded":"nosql"},
{"tag":"notebook","folded":"notebook"},
{"tag":"nvidia","folded":"nvidia"},
{"tag":"object-storage","folded":"object-storage"},
{"tag":"oci","folded":"oci"},
{"tag":"oidc","folded":"oidc"},
{"tag":"olap","folded":"olap"},
{"tag":"onnx","folded":"onnx"},
{"tag":"openai","folded":"openai"},
{"tag":"opentelemetry","folded":"opentelemetry"},
{"tag":"packages","folded":"packages"},
{"tag":"pipelines","folded":"pipelines"},
{"tag":"postgres","folded":"postgres"},
{"tag":"prometheus","folded":"prometheus"},
{"tag":"proxy","folded":"proxy"},
{"tag":"python","folded":"python"},
{"tag":"pytorch","folded":"pytorch"},
{"tag":"queue","folded":"queue"},
{"tag":"r","folded":"r"},
{"tag":"rag","folded":"rag"},
{"tag":"redis","folded":"redis"},
{"tag":"registry","folded":"registry"},
{"tag":"runner","folded":"runner"},
{"tag":"s3","folded":"s3"},
{"tag":"saml","folded":"saml"},
{"tag":"scheduler","folded":"scheduler"},
{"tag":"search","folded":"search"},
{"tag":"speech","folded":"speech"},
{"tag":"sql","folded":"sql"},
{"tag":"sso","folded":"sso"},
{"tag":"stable-diffusion","folded":"stable-diffusion"},
{"tag":"statistics","folded":"statistics"},
{"tag":"status-page","folded":"status-page"},
{"tag":"storage","folded":"storage"},
{"tag":"streaming","folded":"streaming"},
{"tag":"tensorrt","folded":"tensorrt"},
{"tag":"test","folded":"test"},
{"tag":"traces","folded":"traces"},
{"tag":"tracking","folded":"tracking"},
{"tag":"training","folded":"training"},
{"tag":"transcription","folded":"transcription"},
{"tag":"tts","folded":"tts"},
{"tag":"ui","folded":"ui"},
{"tag":"uptime","folded":"uptime"},
{"tag":"valkey","folded":"valkey"},
{"tag":"vector","folded":"vector"},
{"tag":"web","folded":"web"},
{"tag":"whisper","folded":"whisper"},
{"tag":"workflow","folded":"workflow"}]');
DELETE FROM "categories";
INSERT INTO "categories" SELECT * FROM json_populate_recordset(null::"categories", '[{"id":"01a21113-b36d-73d8-8422-6681e85ceb63","name":"Inference","slug":"inference","description":"Servers that answer requests with language and embedding models, and the gateways and chat pages in front of them.","icon":"cpu","sort_order":10,"is_private":false,"sort_name":"inference","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b374-72ca-878e-61e55819af1d","name":"Notebooks and editors","slug":"notebooks","description":"Interactive workspaces in the browser for Python, R and general development.","icon":"notebook","sort_order":20,"is_private":false,"sort_name":"notebooks and editors","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","name":"Vision and speech","slug":"vision-and-speech","description":"Image generation, speech recognition and speech synthesis.","icon":"image","sort_order":30,"is_private":false,"sort_name":"vision and speech","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b37d-74be-863a-c60b19bfb873","name":"Vector stores","slug":"vector-stores","description":"Databases that find the nearest neighbours of an embedding.","icon":"vector","sort_order":40,"is_private":false,"sort_name":"vector stores","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b382-7618-a7a8-d2e12f77e57f","name":"Databases","slug":"databases","description":"Relational, document and analytical databases.","icon":"database","sort_order":50,"is_private":false,"sort_name":"databases","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b387-731c-a140-2d1460527c18","name":"Caches and queues","slug":"caches-and-queues","description":"In-memory stores and message brokers that connect the parts of an application.","icon":"layers","sort_order":60,"is_private":false,"sort_name":"caches and queues","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b388-72b1-a6c0-0683558fc674","name":"Storage and backup","slug":"storage","description":"Object storage, image registries, and jobs that copy or back up volumes.","icon":"archive","sort_order":70,"is_private":false,"sort_name":"storage and backup","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b389-779a-b4b7-000ccccc3ebd","name":"Observability","slug":"observability","description":"Metrics, logs, traces, dashboards and uptime checks.","icon":"chart","sort_order":80,"is_private":false,"sort_name":"observability","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b38b-774f-bb9a-eb98c63a2314","name":"ML ops and CI","slug":"ml-ops-and-ci","description":"Experiment tracking, labelling, training jobs, workflow schedulers and CI runners.","icon":"workflow","sort_order":90,"is_private":false,"sort_name":"ml ops and ci","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b390-701c-8e54-754489331b23","name":"Identity","slug":"identity","description":"Identity providers that sign users in for other applications.","icon":"key","sort_order":95,"is_private":false,"sort_name":"identity","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-b391-751e-b0a8-07c3a16b0520","name":"Early access","slug":"early-access","description":"Templates still under trial, shown only to organizations that were invited.","icon":"flask","sort_order":100,"is_private":true,"sort_name":"early access","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","shown_at":"2026-11-25T05:00:33.482+00:00","version":1},
{"id":"01a21113-bf34-717c-9001-fcf05a2d0f60","name":"Internal","slug":"internal","description":"","icon":"","sort_order":0,"is_private":true,"sort_name":"internal","created_at":"2026-11-25T05:00:36.53+00:00","updated_at":"2026-11-25T05:00:36.53+00:00","shown_at":"2026-11-25T05:00:36.53+00:00","version":1}]');
DELETE FROM "category_privacy";
INSERT INTO "category_privacy" SELECT * FROM json_populate_recordset(null::"category_privacy", '[{"id":1,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":10,"category_id":"01a21113-b390-701c-8e54-754489331b23","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":11,"category_id":"01a21113-b391-751e-b0a8-07c3a16b0520","is_private":true,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":12,"category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","is_private":true,"valid_from":"2026-11-25T05:00:36.53+00:00","valid_to":null},
{"id":2,"category_id":"01a21113-b374-72ca-878e-61e55819af1d","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":3,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":4,"category_id":"01a21113-b37d-74be-863a-c60b19bfb873","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":5,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":6,"category_id":"01a21113-b387-731c-a140-2d1460527c18","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":7,"category_id":"01a21113-b388-72b1-a6c0-0683558fc674","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":8,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":9,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","is_private":false,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null}]');
DELETE FROM "organizations";
INSERT INTO "organizations" SELECT * FROM json_populate_recordset(null::"organizations", '[{"id":"01a21113-b262-742c-ac36-1e617201759e","name":"Demo organization","slug":"demo","status":"active","created_at":"2026-11-25T05:00:33.247+00:00","updated_at":"2026-11-25T05:00:33.25+00:00","version":1}]');
DELETE FROM "schema_info";
INSERT INTO "schema_info" SELECT * FROM json_populate_recordset(null::"schema_info", '[{"id":1,"oldest_migration":"00000000000000_initial","audit_retention_enforced":false,"audit_retention_days":null}]');
DELETE FROM "subscriptions";
INSERT INTO "subscriptions" SELECT * FROM json_populate_recordset(null::"subscriptions", '[{"id":"01a21113-b26d-7269-8f67-d979e7b624f1","org_id":"01a21113-b262-742c-ac36-1e617201759e","tier":"pro","created_at":"2026-11-25T05:00:33.247+00:00","updated_at":"2026-11-25T05:00:33.25+00:00"}]');
DELETE FROM "template_downloads";
INSERT INTO "template_downloads" SELECT * FROM json_populate_recordset(null::"template_downloads", '[{"template_id":"01a21113-c0c5-76f5-b37a-961978e156df","count":1,"counted_at":"2026-11-25T05:00:38.648+00:00"}]');
DELETE FROM "template_scopes";
INSERT INTO "template_scopes" SELECT * FROM json_populate_recordset(null::"template_scopes", '[{"id":1,"template_id":"01a21113-b421-70dc-809f-3de7bb1c555b","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.134+00:00"},
{"id":10,"template_id":"01a21113-b421-70dc-809f-62edb21e1fa3","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.208+00:00"},
{"id":11,"template_id":"01a21113-b421-70dc-809f-667bce48b214","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.201+00:00"},
{"id":12,"template_id":"01a21113-b421-70dc-809f-6ae58b9a4783","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.217+00:00"},
{"id":13,"template_id":"01a21113-b421-70dc-809f-6dcb5d33d06f","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.223+00:00"},
{"id":14,"template_id":"01a21113-b421-70dc-809f-732a033cfafd","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.229+00:00"},
{"id":15,"template_id":"01a21113-b421-70dc-809f-74d0f7147b37","is_public":true,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.237+00:00"},
{"id":16,"template_id":"01a21113-b421-70dc-809f-7b46c9ac55d1","is_public":true,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.249+00:00"},
{"id":17,"template_id":"01a21113-b421-70dc-809f-7ecabd90e3d4","is_public":true,"category_id":"01a21113-b374-72ca-878e-61e55819af1d","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.256+00:00"},
{"id":18,"template_id":"01a21113-b421-70dc-809f-821c46c55efe","is_public":true,"category_id":"01a21113-b374-72ca-878e-61e55819af1d","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.262+00:00"},
{"id":19,"template_id":"01a21113-b425-7131-a50c-d96bff3c7fae","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.153+00:00"},
{"id":2,"template_id":"01a21113-b421-70dc-809f-4034fc053da3","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.16+00:00"},
{"id":20,"template_id":"01a21113-b425-7131-a50c-de0ff0224edc","is_public":true,"category_id":"01a21113-b390-701c-8e54-754489331b23","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.267+00:00"},
{"id":21,"template_id":"01a21113-b425-7131-a50c-e327b1da9a93","is_public":true,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.273+00:00"},
{"id":22,"template_id":"01a21113-b425-7131-a50c-e400c985e08d","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.279+00:00"},
{"id":23,"template_id":"01a21113-b425-7131-a50c-e824dad27311","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.285+00:00"},
{"id":24,"template_id":"01a21113-b425-7131-a50c-eff9b92f63d3","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.291+00:00"},
{"id":25,"template_id":"01a21113-b425-7131-a50c-f3ac18dcd1ae","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.298+00:00"},
{"id":26,"template_id":"01a21113-b425-7131-a50c-f42a419a5b6e","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.305+00:00"},
{"id":27,"template_id":"01a21113-b425-7131-a50c-fb22ef902181","is_public":true,"category_id":"01a21113-b391-751e-b0a8-07c3a16b0520","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.311+00:00"},
{"id":28,"template_id":"01a21113-b425-7131-a50c-fc3340448550","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.317+00:00"},
{"id":29,"template_id":"01a21113-b425-7131-a50d-02c42ec59526","is_public":true,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.243+00:00"},
{"id":3,"template_id":"01a21113-b421-70dc-809f-461e78acf33e","is_public":true,"category_id":"01a21113-b37d-74be-863a-c60b19bfb873","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.167+00:00"},
{"id":30,"template_id":"01a21113-b425-7131-a50d-05f8b442982d","is_public":true,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.324+00:00"},
{"id":31,"template_id":"01a21113-b425-7131-a50d-08b6166dfdfd","is_public":true,"category_id":"01a21113-b374-72ca-878e-61e55819af1d","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.33+00:00"},
{"id":32,"template_id":"01a21113-b425-7131-a50d-0fafdf26846f","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.335+00:00"},
{"id":33,"template_id":"01a21113-b425-7131-a50d-117aff467828","is_public":true,"category_id":"01a21113-b37d-74be-863a-c60b19bfb873","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.343+00:00"},
{"id":34,"template_id":"01a21113-b425-7131-a50d-15af09c4a82b","is_public":true,"category_id":"01a21113-b388-72b1-a6c0-0683558fc674","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.349+00:00"},
{"id":35,"template_id":"01a21113-b425-7131-a50d-185f5523d497","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.361+00:00"},
{"id":36,"template_id":"01a21113-b425-7131-a50d-1c4ed5c8ab3a","is_public":true,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.366+00:00"},
{"id":37,"template_id":"01a21113-b425-7131-a50d-21142b41e61f","is_public":true,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.373+00:00"},
{"id":38,"template_id":"01a21113-b425-7131-a50d-24cb9daee295","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.379+00:00"},
{"id":39,"template_id":"01a21113-b425-7131-a50d-298a2983e40b","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.384+00:00"},
{"id":4,"template_id":"01a21113-b421-70dc-809f-482e02948b55","is_public":true,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.174+00:00"},
{"id":40,"template_id":"01a21113-b425-7131-a50d-2c8e53457cc3","is_public":true,"category_id":"01a21113-b388-72b1-a6c0-0683558fc674","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.39+00:00"},
{"id":41,"template_id":"01a21113-b425-7131-a50d-334a57b7c7d9","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":42,"template_id":"01a21113-b425-7131-a50d-34bb5d963a21","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.405+00:00"},
{"id":43,"template_id":"01a21113-b425-7131-a50d-399da2d4dfbb","is_public":true,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.41+00:00"},
{"id":44,"template_id":"01a21113-b425-7131-a50d-3f48526ed6c0","is_public":true,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.416+00:00"},
{"id":45,"template_id":"01a21113-b425-7131-a50d-4037f65dd777","is_public":true,"category_id":"01a21113-b37d-74be-863a-c60b19bfb873","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.429+00:00"},
{"id":46,"template_id":"01a21113-b425-7131-a50d-47d0f647682e","is_public":true,"category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":47,"template_id":"01a21113-b425-7131-a50d-4b1873609567","is_public":true,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.434+00:00"},
{"id":48,"template_id":"01a21113-b425-7131-a50d-4c84a94f2c10","is_public":true,"category_id":"01a21113-b37d-74be-863a-c60b19bfb873","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.775+00:00"},
{"id":49,"template_id":"01a21113-b425-7131-a50d-532c5593c9ff","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.44+00:00"},
{"id":5,"template_id":"01a21113-b421-70dc-809f-4cbae6ac6e26","is_public":true,"category_id":"01a21113-b374-72ca-878e-61e55819af1d","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.18+00:00"},
{"id":50,"template_id":"01a21113-b425-7131-a50d-55331b153a20","is_public":true,"category_id":"01a21113-b38b-774f-bb9a-eb98c63a2314","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.445+00:00"},
{"id":51,"template_id":"01a21113-b425-7131-a50d-5920f8cea8e6","is_public":true,"category_id":"01a21113-b388-72b1-a6c0-0683558fc674","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.45+00:00"},
{"id":52,"template_id":"01a21113-b425-7131-a50d-5c133f8e25be","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":53,"template_id":"01a21113-b425-7131-a50d-632d7cbef9d1","is_public":true,"category_id":"01a21113-b388-72b1-a6c0-0683558fc674","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":null},
{"id":54,"template_id":"01a21113-b425-7131-a50d-6416c791ff5e","is_public":true,"category_id":"01a21113-b374-72ca-878e-61e55819af1d","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.455+00:00"},
{"id":55,"template_id":"01a21113-b425-7131-a50d-68f3074459dd","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.46+00:00"},
{"id":56,"template_id":"01a21113-b425-7131-a50d-6cfa2a1fece9","is_public":true,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.466+00:00"},
{"id":57,"template_id":"01a21113-b425-7131-a50d-73d76016f90a","is_public":true,"category_id":"01a21113-b391-751e-b0a8-07c3a16b0520","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.472+00:00"},
{"id":58,"template_id":"01a21113-b425-7131-a50d-760ca06d56f9","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.477+00:00"},
{"id":59,"template_id":"01a21113-b425-7131-a50d-7a3feb7d083a","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.482+00:00"},
{"id":6,"template_id":"01a21113-b421-70dc-809f-5399df7365d0","is_public":true,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.569+00:00"},
{"id":60,"template_id":"01a21113-b425-7131-a50d-7d7f4607bd06","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.4+00:00"},
{"id":61,"template_id":"01a21113-b425-7131-a50d-80f763410b16","is_public":true,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.488+00:00"},
{"id":62,"template_id":"01a21113-b425-7131-a50d-85137d27bea6","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.496+00:00"},
{"id":63,"template_id":"01a21113-b425-7131-a50d-8adfe944781c","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.502+00:00"},
{"id":64,"template_id":"01a21113-b425-7131-a50d-8f2a9b964231","is_public":true,"category_id":"01a21113-b37d-74be-863a-c60b19bfb873","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.506+00:00"},
{"id":65,"template_id":"01a21113-b425-7131-a50d-91e2cb9e7fa6","is_public":true,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.511+00:00"},
{"id":66,"template_id":"01a21113-b425-7131-a50d-953e80331a89","is_public":true,"category_id":"01a21113-b37b-71f8-9dbc-9e982c6804c0","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.422+00:00"},
{"id":67,"template_id":"01a21113-b421-70dc-809f-5399df7365d0","is_public":true,"category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","owner_org_id":null,"valid_from":"2026-11-25T05:00:36.569+00:00","valid_to":null},
{"id":68,"template_id":"01a21113-c0c5-76f5-b37a-961978e156df","is_public":true,"category_id":"01a21113-b387-731c-a140-2d1460527c18","owner_org_id":null,"valid_from":"2026-11-25T05:00:36.929+00:00","valid_to":null},
{"id":7,"template_id":"01a21113-b421-70dc-809f-55ca0ffdf2b2","is_public":true,"category_id":"01a21113-b388-72b1-a6c0-0683558fc674","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.186+00:00"},
{"id":8,"template_id":"01a21113-b421-70dc-809f-586ae12e1a3f","is_public":true,"category_id":"01a21113-b389-779a-b4b7-000ccccc3ebd","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.394+00:00"},
{"id":9,"template_id":"01a21113-b421-70dc-809f-5c197c1325b6","is_public":true,"category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","owner_org_id":null,"valid_from":"2026-11-25T05:00:33.482+00:00","valid_to":"2026-11-25T05:00:36.193+00:00"}]');
DELETE FROM "templates";
INSERT INTO "templates" SELECT * FROM json_populate_recordset(null::"templates",  E'[{"id":"01a21113-b421-70dc-809f-5399df7365d0","name":"ComfyUI","slug":"comfyui","description":"Node editor for image and video generation with Stable Diffusion, Flux and others, in a community image for CUDA 12.6.","version":"1.2.0","kind":"service","category_id":"01a21113-bf34-717c-9001-fcf05a2d0f60","image_name":"yanwk/comfyui-boot","image_tag":"cu126-slim","cpu_request":"4","memory_request":"16Gi","gpu_count":1,"vram_request":"12Gi","concurrent_jobs":1,"env":[],"env_schema":[{"name": "CLI_ARGS", "required": false, "description": "Arguments for ComfyUI, for example --lowvram or --fast.", "default_value": ""}, {"name": "HF_TOKEN", "required": false, "description": "Hugging Face token for gated model downloads. [secret]", "default_value": ""}],"ports":[{"protocol": "TCP", "containerPort": 8188}],"volume_mounts":[{"name": "storage", "mountPath": "/root"}],"node_selector":{"kubernetes.io/arch": "amd64"},"required_network_types":["mesh"],"tags":["image","diffusion","stable-diffusion","flux","gpu"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# ComfyUI\\n\\nBuilds image and video pipelines from nodes. At the first start the image copies ComfyUI and its manager into the\\nvolume, and runs it from there.\\n\\n## Access\\nOpen port 8188. There is no sign-in: keep it private, or put an authenticating proxy in front.\\n\\n## Notes\\n- Everything (models, custom nodes, outputs) is under `/root`; models go to `/root/ComfyUI/models`.\\n- `CLI_ARGS` passes options such as `--lowvram` for small cards.\\n- The project publishes rolling tags for each CUDA line, not numbered ones. Pin a digest for exact repeats.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/system_stats\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":[],"tolerations":[{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}],"icon_url":null,"owner_org_id":null,"search_text":"comfyui\\u001fnode editor for image and video generation with stable diffusion, flux and others, in a community image for cuda 12.6.","sort_name":"comfyui","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:36.569+00:00","weight":1690,"resource_version":2},
{"id":"01a21113-b425-7131-a50d-334a57b7c7d9","name":"Ollama","slug":"ollama","description":"Pulls and serves open models by name, with a simple API of its own and an OpenAI-compatible one.","version":"1.2.0","kind":"service","category_id":"01a21113-b36d-73d8-8422-6681e85ceb63","image_name":"ollama/ollama","image_tag":"0.15.2","cpu_request":"4","memory_request":"16Gi","gpu_count":1,"vram_request":"8Gi","concurrent_jobs":1,"env":[{"name": "SVC_HEALTH_CHECK", "value": "tcp:11434"}],"env_schema":[{"name": "OLLAMA_KEEP_ALIVE", "required": false, "description": "How long a model stays loaded after its last request, for example 5m, 24h or -1 for no limit.", "default_value": "5m"}, {"name": "OLLAMA_NUM_PARALLEL", "required": false, "description": "Requests that each loaded model processes at the same time.", "default_value": "2"}, {"name": "OLLAMA_MAX_LOADED_MODELS", "required": false, "description": "Models kept in memory at the same time.", "default_value": "1"}, {"name": "OLLAMA_CONTEXT_LENGTH", "required": false, "description": "Default context window in tokens.", "default_value": "4096"}],"ports":[{"protocol": "TCP", "containerPort": 11434}],"volume_mounts":[{"name": "ollama-data", "mountPath": "/root/.ollama"}],"node_selector":{},"required_network_types":["mesh"],"tags":["llm","inference","openai","gpu"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# Ollama\\n\\nA model runner that downloads models by name and loads them on demand. It starts without any model.\\n\\n## Access\\nThe API listens on port 11434. It has no authentication: keep it on a private network, or put a gateway such as\\nLiteLLM or Open WebUI in front of it.\\n\\n## Notes\\n- `OLLAMA_KEEP_ALIVE` decides when an idle model leaves the GPU.\\n- `OLLAMA_NUM_PARALLEL` and `OLLAMA_CONTEXT_LENGTH` multiply the memory that a model takes.\\n- The `ollama-data` volume keeps the downloaded models.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/api/pull -d ''{\\"model\\": \\"llama3.2\\"}''\\ncurl http://$ENDPOINT/api/generate -d ''{\\"model\\": \\"llama3.2\\", \\"prompt\\": \\"Why is the sky blue?\\", \\"stream\\": false}''\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":[],"tolerations":[{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}],"icon_url":null,"owner_org_id":null,"search_text":"ollama\\u001fpulls and serves open models by name, with a simple api of its own and an openai-compatible one.","sort_name":"ollama","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","weight":2110,"resource_version":1},
{"id":"01a21113-b425-7131-a50d-47d0f647682e","name":"PostgreSQL","slug":"postgresql","description":"The PostgreSQL 17 relational database with one persistent volume.","version":"1.2.0","kind":"service","category_id":"01a21113-b382-7618-a7a8-d2e12f77e57f","image_name":"postgres","image_tag":"17.5","cpu_request":"1","memory_request":"1Gi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[{"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"}, {"name": "SVC_HEALTH_CHECK", "value": "exec:pg_isready -q -h 127.0.0.1"}],"env_schema":[{"name": "POSTGRES_PASSWORD", "required": true, "description": "Password of the first user. [secret]", "default_value": ""}, {"name": "POSTGRES_USER", "required": false, "description": "Name of the first user, who is superuser.", "default_value": "postgres"}, {"name": "POSTGRES_DB", "required": false, "description": "Database that is created at the first start.", "default_value": "app"}, {"name": "POSTGRES_INITDB_ARGS", "required": false, "description": "Arguments for initdb at the first start.", "default_value": "--data-checksums"}, {"name": "SVC_SHM_SIZE", "required": false, "description": "Size of /dev/shm, which counts towards the memory of the container.", "default_value": "256Mi"}],"ports":[{"protocol": "TCP", "containerPort": 5432}],"volume_mounts":[{"name": "data", "mountPath": "/var/lib/postgresql/data"}],"node_selector":{},"required_network_types":[],"tags":["database","sql","postgres"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# PostgreSQL\\n\\nOne PostgreSQL server. It is not replicated: back it up, for example with the restic job.\\n\\n## Access\\nPort 5432, with `psql` or any driver.\\n\\n## Notes\\n- The `POSTGRES_` variables are read only while the volume is empty. Change passwords with `ALTER ROLE` later.\\n- `PGDATA` is a folder below the volume, because some file systems put `lost+found` at its top.\\n- A volume belongs to one major version. Moving to the next one needs `pg_dump` and a restore.\\n\\n## Example\\n```sh\\npsql \\"postgresql://postgres:$POSTGRES_PASSWORD@$ENDPOINT/app\\" -c ''SELECT version()''\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":[],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"postgresql\\u001fthe postgresql 17 relational database with one persistent volume.","sort_name":"postgresql","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","weight":2038,"resource_version":1},
{"id":"01a21113-b425-7131-a50d-5c133f8e25be","name":"Redis","slug":"redis","description":"An in-memory data store","version":"1.2.0","kind":"service","category_id":"01a21113-b387-731c-a140-2d1460527c18","image_name":"redis","image_tag":"7.4.2","cpu_request":"500m","memory_request":"1Gi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[{"name": "SVC_HEALTH_CHECK", "value": "tcp:6379"}],"env_schema":[{"name": "REDIS_PASSWORD", "required": true, "description": "Password of the user default. [secret]", "default_value": ""}],"ports":[{"protocol": "TCP", "containerPort": 6379}],"volume_mounts":[{"name": "data", "mountPath": "/data"}],"node_selector":{},"required_network_types":["mesh"],"tags":["cache","key-value","redis"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# Redis\\n\\nKeeps data in memory and logs every write to the volume, so that a restart loses a second at most.\\n\\n## Access\\nPort 6379, with the password in `REDIS_PASSWORD`. The protocol has no TLS here, so this template requires a private mesh\\nnetwork.\\n\\n## Notes\\n- `--maxmemory` stays below the requested memory, because writing the log needs room.\\n- For a pure cache use `--maxmemory-policy allkeys-lru` and `--appendonly no`.\\n\\n## Example\\n```sh\\nredis-cli -u \\"redis://default:$REDIS_PASSWORD@$ENDPOINT\\" SET greeting hello\\nredis-cli -u \\"redis://default:$REDIS_PASSWORD@$ENDPOINT\\" GET greeting\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":["sh","-c","exec docker-entrypoint.sh redis-server --appendonly yes --maxmemory 768mb --maxmemory-policy noeviction --requirepass \\"$REDIS_PASSWORD\\""],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"redis\\u001fan in-memory data store","sort_name":"redis","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:36.69+00:00","weight":1374,"resource_version":2},
{"id":"01a21113-b425-7131-a50d-632d7cbef9d1","name":"Restic backup","slug":"restic-backup","description":"Job that backs up a volume, encrypted and deduplicated, to an S3 bucket or another restic repository.","version":"1.0.0","kind":"job","category_id":"01a21113-b388-72b1-a6c0-0683558fc674","image_name":"restic/restic","image_tag":"0.18.0","cpu_request":"500m","memory_request":"1Gi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[],"env_schema":[{"name": "RESTIC_REPOSITORY", "required": true, "description": "Repository, for example s3:https://s3.example.net/backups.", "default_value": ""}, {"name": "AWS_DEFAULT_REGION", "required": false, "description": "Region of the bucket.", "default_value": "us-east-1"}],"ports":[],"volume_mounts":[{"name": "data", "mountPath": "/data"}, {"name": "cache", "mountPath": "/root/.cache/restic"}],"node_selector":{},"required_network_types":[],"tags":["backup","storage","s3","job"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# Restic backup\\n\\nRuns once: reads the volume at `/data` and writes what is new to the repository. Everything is encrypted before it\\nleaves the machine.\\n\\n## Before the first run\\n- Create a fleet secret named `restic` with the keys `password`, `access-key` and `secret-key`. Without that password\\n  nothing can be restored. Keep a copy elsewhere.\\n- Initialize the repository once: the same job with the command `init`.\\n\\n## Notes\\n- Attach the volume to save as `data`. Databases should be dumped first, or stopped.\\n- `RESTIC_REPOSITORY` also takes `rest:https://...`, `sftp:...` and other backends.\\n- Old snapshots are removed with the command `forget --keep-daily 7 --keep-weekly 4 --prune`.\\n\\n## Example\\n```sh\\nrestic -r \\"$RESTIC_REPOSITORY\\" snapshots\\nrestic -r \\"$RESTIC_REPOSITORY\\" restore latest --target /tmp/restored\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[{"env": "RESTIC_PASSWORD", "key": "password", "name": "restic"}, {"env": "AWS_ACCESS_KEY_ID", "key": "access-key", "name": "restic"}, {"env": "AWS_SECRET_ACCESS_KEY", "key": "secret-key", "name": "restic"}],"command":["backup","/data","--tag","fleet"],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"restic backup\\u001fjob that backs up a volume, encrypted and deduplicated, to an s3 bucket or another restic repository.","sort_name":"restic backup","created_at":"2026-11-25T05:00:33.482+00:00","updated_at":"2026-11-25T05:00:33.482+00:00","weight":2023,"resource_version":1},
{"id":"01a21113-c0c5-76f5-b37a-961978e156df","name":"Web","slug":"web","description":"A web server","version":"1.0.0","kind":"service","category_id":"01a21113-b387-731c-a140-2d1460527c18","image_name":"svc-test/busybox","image_tag":"1","cpu_request":"50m","memory_request":"32Mi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[{"name": "GREETING", "value": "hello"}],"env_schema":[{"name": "KEY", "required": true, "description": "The key of the sessions [secret]", "default_value": ""}],"ports":[{"protocol": "TCP", "containerPort": 8080}],"volume_mounts":[{"name": "data", "mountPath": "/data"}],"node_selector":{},"required_network_types":[],"tags":[],"is_public":true,"is_featured":false,"min_tier":"free","documentation":"","registry_url":"localhost","registry_credentials":null,"secret_refs":[{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}],"command":["sh","-c","trap ''exit 0'' TERM\\necho \\"$GREETING $PASSWORD\\" > /data/index.html\\nhttpd -f -p 8080 -h /data & wait"],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"web\\u001fa web server","sort_name":"web","created_at":"2026-11-25T05:00:36.929+00:00","updated_at":"2026-11-25T05:00:36.929+00:00","weight":745,"resource_version":1}]');
DELETE FROM "users";
INSERT INTO "users" SELECT * FROM json_populate_recordset(null::"users", '[{"id":"01a21113-bd4a-728b-93cb-a17dc3eb83c8","iss":"http://127.0.0.1:24300","sub":"dev-admin","email":"admin@example.test","email_verified":true,"name":"Ada Admin","name_set":false,"role":"superadmin","role_set":false,"org_id":null,"org_role":null,"created_at":"2026-11-25T05:00:36.044+00:00","updated_at":"2026-11-25T05:00:36.042+00:00","version":1}]');
