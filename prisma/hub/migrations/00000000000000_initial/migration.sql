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
