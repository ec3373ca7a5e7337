-- The database of the hub 0.1.0, recorded by infra/local/release/record.mjs.
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

CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);
DELETE FROM "_prisma_migrations";
INSERT INTO "_prisma_migrations" SELECT * FROM json_populate_recordset(null::"_prisma_migrations", '[{"id":"92f7fc04-c465-46a7-8acd-82c2805e8f15","checksum":"cf026c8d461e236356d7b4daafa886d017156b6b40e465b66f9070d3a6691436","finished_at":"2026-11-22T17:44:08.757+00:00","migration_name":"00000000000000_initial","logs":null,"rolled_back_at":null,"started_at":"2026-11-22T17:44:08.658+00:00","applied_steps_count":1}]');
DELETE FROM "api_keys";
INSERT INTO "api_keys" SELECT * FROM json_populate_recordset(null::"api_keys", '[{"id":"01a2045b-bf8c-7061-a2cc-500e6c0c6f59","org_id":"01a2045b-bada-777e-80fa-2475f9973c53","name":"demo fleet","key_hash":"9988ac4cfba1b9fb5f1ec326865025b9a52e1b2bd65c4641c4f312637048da64","key_prefix":"svcc_p190zSt","expires_in_days":null,"expires_at":null,"revoked_at":null,"last_used_at":"2026-11-22T17:44:18.785+00:00","created_at":"2026-11-22T17:44:11.399+00:00"}]');
DELETE FROM "catalog_access";
INSERT INTO "catalog_access" SELECT * FROM json_populate_recordset(null::"catalog_access", '[{"id":"01a2045b-d6cf-7769-9708-0139bd0c4fe4","org_id":"01a2045b-bada-777e-80fa-2475f9973c53","category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","created_at":"2026-11-22T17:44:17.357+00:00"}]');
DELETE FROM "catalog_access_periods";
INSERT INTO "catalog_access_periods" SELECT * FROM json_populate_recordset(null::"catalog_access_periods", '[{"id":1,"org_id":"01a2045b-bada-777e-80fa-2475f9973c53","category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","valid_from":"2026-11-22T17:44:17.078+00:00","valid_to":"2026-11-22T17:44:17.268+00:00"},
{"id":2,"org_id":"01a2045b-bada-777e-80fa-2475f9973c53","category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","valid_from":"2026-11-22T17:44:17.357+00:00","valid_to":null}]');
DELETE FROM "catalog_clock";
INSERT INTO "catalog_clock" SELECT * FROM json_populate_recordset(null::"catalog_clock", '[{"id":1,"at":"2026-11-22T17:44:17.472+00:00","floor":null}]');
DELETE FROM "catalog_commits";
INSERT INTO "catalog_commits" SELECT * FROM json_populate_recordset(null::"catalog_commits", '[{"at":"2026-11-22T17:44:08.734+00:00","commit":"de046748-568f-4ee3-ad07-8f7383822ca1"},
{"at":"2026-11-22T17:44:10.447+00:00","commit":"26e4a6eb-0b7b-4db9-b325-23c64c1e8811"},
{"at":"2026-11-22T17:44:16.717+00:00","commit":"fe493bc0-2d99-4286-97d2-48e2b6cfcc50"},
{"at":"2026-11-22T17:44:16.736+00:00","commit":"4c9f5c85-49d6-40c6-9fbf-d8a20ae74255"},
{"at":"2026-11-22T17:44:16.742+00:00","commit":"c45ba24a-c9f3-4801-a088-f25cc4bff879"},
{"at":"2026-11-22T17:44:16.755+00:00","commit":"ecccdcb5-1036-4c1a-8d3b-02320f1b6bda"},
{"at":"2026-11-22T17:44:16.762+00:00","commit":"66ad839f-0f59-471d-8466-6e42a17e9872"},
{"at":"2026-11-22T17:44:16.769+00:00","commit":"d741d0ee-8d5c-4120-9c9a-314e3a1d7603"},
{"at":"2026-11-22T17:44:16.774+00:00","commit":"d73819c4-6d0c-4b97-b881-ff4fc11f67f6"},
{"at":"2026-11-22T17:44:16.781+00:00","commit":"bab468c2-eb73-4699-90a6-8f1d5d9ef62f"},
{"at":"2026-11-22T17:44:16.789+00:00","commit":"124532d2-de65-4496-9ad9-03e061377aad"},
{"at":"2026-11-22T17:44:16.794+00:00","commit":"48521692-45ac-4302-abae-05e22579676d"},
{"at":"2026-11-22T17:44:16.798+00:00","commit":"dc823c08-235f-4995-a2b3-312b2d1530d6"},
{"at":"2026-11-22T17:44:16.803+00:00","commit":"41a3f44e-6684-4cad-8f11-4d44e9b6ae68"},
{"at":"2026-11-22T17:44:16.809+00:00","commit":"3c65be26-70ba-476c-81bb-a0c2e5c06907"},
{"at":"2026-11-22T17:44:16.814+00:00","commit":"2cfc4a17-4d96-4d2c-9e05-d71471a8d973"},
{"at":"2026-11-22T17:44:16.819+00:00","commit":"d7f96026-9b62-42d5-a03f-0326cadfd700"},
{"at":"2026-11-22T17:44:16.823+00:00","commit":"4c62b69d-6d8d-4476-b5a3-f0ddab34896e"},
{"at":"2026-11-22T17:44:16.827+00:00","commit":"725592df-7549-4d87-91ee-3417cbf9dba6"},
{"at":"2026-11-22T17:44:16.83+00:00","commit":"a2b6a476-bb52-48d5-84b8-ee5b4f503e8d"},
{"at":"2026-11-22T17:44:16.835+00:00","commit":"13a10bee-658a-466c-997a-ecea41f8e4c1"},
{"at":"2026-11-22T17:44:16.839+00:00","commit":"25eadf63-9ee5-4247-b224-8eafe582dabe"},
{"at":"2026-11-22T17:44:16.843+00:00","commit":"e0aa9b3c-4a6d-4e5a-8483-c28bbafe7a58"},
{"at":"2026-11-22T17:44:16.847+00:00","commit":"53f6e52f-cdca-4719-8cb6-b257c53e4612"},
{"at":"2026-11-22T17:44:16.85+00:00","commit":"732ec1c5-8014-49a3-9f2d-01905810db3d"},
{"at":"2026-11-22T17:44:16.855+00:00","commit":"b2ca7046-1d36-43ae-b6cc-7cdd9f99d226"},
{"at":"2026-11-22T17:44:16.86+00:00","commit":"788aa2cd-e33c-4989-8ba5-d5a254e1bf24"},
{"at":"2026-11-22T17:44:16.863+00:00","commit":"7961aa82-3148-402e-bfea-47de284a6e76"},
{"at":"2026-11-22T17:44:16.867+00:00","commit":"d3e5ba42-4462-458e-a0b1-2a8244e4980c"},
{"at":"2026-11-22T17:44:16.872+00:00","commit":"223fc94c-6d3f-4c5b-abc9-38ebf8c199fc"},
{"at":"2026-11-22T17:44:16.876+00:00","commit":"82677312-d22f-4575-a267-1fa9d4f883b3"},
{"at":"2026-11-22T17:44:16.879+00:00","commit":"41d71f3c-1811-4f34-94ae-4a36b8d2643c"},
{"at":"2026-11-22T17:44:16.883+00:00","commit":"b71ee913-248a-4ae3-a073-6e9663520317"},
{"at":"2026-11-22T17:44:16.89+00:00","commit":"5e13d392-a2df-4cab-b2d0-f554da0d79a8"},
{"at":"2026-11-22T17:44:16.894+00:00","commit":"6483615f-01ae-4a37-b721-f6915d3d7115"},
{"at":"2026-11-22T17:44:16.898+00:00","commit":"453875c9-ea96-47e0-b15e-2e5cb98f3a46"},
{"at":"2026-11-22T17:44:16.901+00:00","commit":"2502a955-c108-4abb-a735-4be64d83f1eb"},
{"at":"2026-11-22T17:44:16.905+00:00","commit":"f4a0fea8-d20f-418e-a3c4-b51cdd02596c"},
{"at":"2026-11-22T17:44:16.91+00:00","commit":"dc3c1b1a-acaf-48fd-8715-42df76d5ed8e"},
{"at":"2026-11-22T17:44:16.916+00:00","commit":"c6cfa391-5915-4e31-9d1c-0caf19350372"},
{"at":"2026-11-22T17:44:16.921+00:00","commit":"8ce74421-72b9-42d0-a8a1-42a879129944"},
{"at":"2026-11-22T17:44:16.926+00:00","commit":"72e555e4-7679-4c10-a219-1a2b33a5daa3"},
{"at":"2026-11-22T17:44:16.934+00:00","commit":"f879550b-07d3-46ac-a1ed-ef39b5a54d65"},
{"at":"2026-11-22T17:44:16.937+00:00","commit":"b7873234-f8de-4028-8e72-d93740927e2b"},
{"at":"2026-11-22T17:44:16.941+00:00","commit":"c9d82957-c083-42af-84b3-0e16657942da"},
{"at":"2026-11-22T17:44:16.946+00:00","commit":"07aac57d-5547-4366-a5b0-81abe6475b9e"},
{"at":"2026-11-22T17:44:16.952+00:00","commit":"443901d9-b28c-4204-9f7d-a992e8a07ad6"},
{"at":"2026-11-22T17:44:16.957+00:00","commit":"f61134e8-f745-4977-87ab-910d70039e75"},
{"at":"2026-11-22T17:44:16.96+00:00","commit":"95045a9b-60a8-4b04-bcbb-b0b7c74bf2b7"},
{"at":"2026-11-22T17:44:16.964+00:00","commit":"c98c318c-ae8f-4119-99c5-89948d860fb8"},
{"at":"2026-11-22T17:44:16.968+00:00","commit":"f353734d-fff8-475b-9949-30ebf042466b"},
{"at":"2026-11-22T17:44:16.974+00:00","commit":"0fe67379-b498-44e1-a13a-733d277a3f09"},
{"at":"2026-11-22T17:44:16.979+00:00","commit":"4055c1c0-5905-40e8-b1d6-f60cbbf9182a"},
{"at":"2026-11-22T17:44:16.985+00:00","commit":"7b1d67b6-47fa-45f5-9831-1d8758d0b049"},
{"at":"2026-11-22T17:44:16.989+00:00","commit":"f3e8f58e-0f8b-4687-9a25-1f8975d9bdf6"},
{"at":"2026-11-22T17:44:17.011+00:00","commit":"fe257d22-f36f-474f-8730-9fcdea13ae08"},
{"at":"2026-11-22T17:44:17.034+00:00","commit":"1f9eba29-1af0-4629-aafb-dff6728b1f08"},
{"at":"2026-11-22T17:44:17.078+00:00","commit":"89d162dd-9368-475e-9133-94e35f3a4a34"},
{"at":"2026-11-22T17:44:17.212+00:00","commit":"6f23c5f5-9270-42f2-a2cb-4b9b726ab740"},
{"at":"2026-11-22T17:44:17.268+00:00","commit":"79b57612-32d3-4263-9b3a-6bf65df570c5"},
{"at":"2026-11-22T17:44:17.283+00:00","commit":"0e509433-63bc-42be-a701-b7523cf59918"},
{"at":"2026-11-22T17:44:17.357+00:00","commit":"5403ed3a-9da7-431d-8578-86044007cb39"},
{"at":"2026-11-22T17:44:17.472+00:00","commit":"9266af75-dba4-4607-a938-1fcadd4a3800"}]');
DELETE FROM "categories";
INSERT INTO "categories" SELECT * FROM json_populate_recordset(null::"categories", '[{"id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","name":"Inference","slug":"inference","description":"Servers that answer requests with language and embedding models, and the gateways and chat pages in front of them.","icon":"cpu","sort_order":10,"is_private":false,"sort_name":"inference","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","name":"Notebooks and editors","slug":"notebooks","description":"Interactive workspaces in the browser for Python, R and general development.","icon":"notebook","sort_order":20,"is_private":false,"sort_name":"notebooks and editors","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","name":"Vision and speech","slug":"vision-and-speech","description":"Image generation, speech recognition and speech synthesis.","icon":"image","sort_order":30,"is_private":false,"sort_name":"vision and speech","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","name":"Vector stores","slug":"vector-stores","description":"Databases that find the nearest neighbours of an embedding.","icon":"vector","sort_order":40,"is_private":false,"sort_name":"vector stores","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","name":"Databases","slug":"databases","description":"Relational, document and analytical databases.","icon":"database","sort_order":50,"is_private":false,"sort_name":"databases","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc2a-729c-a880-da8f302db76d","name":"Caches and queues","slug":"caches-and-queues","description":"In-memory stores and message brokers that connect the parts of an application.","icon":"layers","sort_order":60,"is_private":false,"sort_name":"caches and queues","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","name":"Storage and backup","slug":"storage","description":"Object storage, image registries, and jobs that copy or back up volumes.","icon":"archive","sort_order":70,"is_private":false,"sort_name":"storage and backup","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","name":"Observability","slug":"observability","description":"Metrics, logs, traces, dashboards and uptime checks.","icon":"chart","sort_order":80,"is_private":false,"sort_name":"observability","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","name":"ML ops and CI","slug":"ml-ops-and-ci","description":"Experiment tracking, labelling, training jobs, workflow schedulers and CI runners.","icon":"workflow","sort_order":90,"is_private":false,"sort_name":"ml ops and ci","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-bc3a-732f-a87a-87a4faf7450d","name":"Early access","slug":"early-access","description":"Templates still under trial, shown only to organizations that were invited.","icon":"flask","sort_order":100,"is_private":true,"sort_name":"early access","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","shown_at":"2026-11-22T17:44:10.447+00:00"},
{"id":"01a2045b-d575-7777-98f8-29e2f1745ba0","name":"Internal","slug":"internal","description":"","icon":"","sort_order":0,"is_private":true,"sort_name":"internal","created_at":"2026-11-22T17:44:17.011+00:00","updated_at":"2026-11-22T17:44:17.011+00:00","shown_at":"2026-11-22T17:44:17.011+00:00"}]');
DELETE FROM "category_privacy";
INSERT INTO "category_privacy" SELECT * FROM json_populate_recordset(null::"category_privacy", '[{"id":1,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":10,"category_id":"01a2045b-bc3a-732f-a87a-87a4faf7450d","is_private":true,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":11,"category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","is_private":true,"valid_from":"2026-11-22T17:44:17.011+00:00","valid_to":null},
{"id":2,"category_id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":3,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":4,"category_id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":5,"category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":6,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":7,"category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":8,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":9,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","is_private":false,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null}]');
DELETE FROM "organizations";
INSERT INTO "organizations" SELECT * FROM json_populate_recordset(null::"organizations", '[{"id":"01a2045b-bada-777e-80fa-2475f9973c53","name":"Demo organization","slug":"demo","status":"active","created_at":"2026-11-22T17:44:10.182+00:00","updated_at":"2026-11-22T17:44:10.202+00:00"}]');
DELETE FROM "subscriptions";
INSERT INTO "subscriptions" SELECT * FROM json_populate_recordset(null::"subscriptions", '[{"id":"01a2045b-badd-77fc-ab9f-c75df5d9f908","org_id":"01a2045b-bada-777e-80fa-2475f9973c53","tier":"pro","created_at":"2026-11-22T17:44:10.182+00:00","updated_at":"2026-11-22T17:44:10.202+00:00"}]');
DELETE FROM "template_downloads";
INSERT INTO "template_downloads" SELECT * FROM json_populate_recordset(null::"template_downloads", '[{"template_id":"01a2045b-d746-720a-b7cb-5afd81163356","count":1}]');
DELETE FROM "template_scopes";
INSERT INTO "template_scopes" SELECT * FROM json_populate_recordset(null::"template_scopes", '[{"id":1,"template_id":"01a2045b-bccb-77fa-9df0-f1d5093591e9","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.717+00:00"},
{"id":10,"template_id":"01a2045b-bccb-77fa-9df1-15db8681b548","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.789+00:00"},
{"id":11,"template_id":"01a2045b-bccb-77fa-9df1-192958c3b5d6","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.794+00:00"},
{"id":12,"template_id":"01a2045b-bccb-77fa-9df1-1ed46e3ac65c","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.798+00:00"},
{"id":13,"template_id":"01a2045b-bccb-77fa-9df1-201ec69f407c","is_public":true,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.803+00:00"},
{"id":14,"template_id":"01a2045b-bccb-77fa-9df1-26cdc5bdbf5e","is_public":true,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.814+00:00"},
{"id":15,"template_id":"01a2045b-bccb-77fa-9df1-2bb8931143ef","is_public":true,"category_id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.819+00:00"},
{"id":16,"template_id":"01a2045b-bccb-77fa-9df1-2dafb8d46b09","is_public":true,"category_id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.823+00:00"},
{"id":17,"template_id":"01a2045b-bccb-77fa-9df1-304b73069c72","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.736+00:00"},
{"id":18,"template_id":"01a2045b-bccb-77fa-9df1-373019f2b11e","is_public":true,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.827+00:00"},
{"id":19,"template_id":"01a2045b-bccb-77fa-9df1-38ba910a621e","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.83+00:00"},
{"id":2,"template_id":"01a2045b-bccb-77fa-9df0-f7608bed9873","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.742+00:00"},
{"id":20,"template_id":"01a2045b-bccb-77fa-9df1-3f99230a663d","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.835+00:00"},
{"id":21,"template_id":"01a2045b-bccb-77fa-9df1-437151305959","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.839+00:00"},
{"id":22,"template_id":"01a2045b-bccb-77fa-9df1-44f747c3ead9","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.843+00:00"},
{"id":23,"template_id":"01a2045b-bccb-77fa-9df1-4959cf2d5afe","is_public":true,"category_id":"01a2045b-bc3a-732f-a87a-87a4faf7450d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.847+00:00"},
{"id":24,"template_id":"01a2045b-bccb-77fa-9df1-4d68ce8a9138","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.85+00:00"},
{"id":25,"template_id":"01a2045b-bccb-77fa-9df1-51d10d43d5eb","is_public":true,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.809+00:00"},
{"id":26,"template_id":"01a2045b-bccc-702f-8681-d20cfe101c09","is_public":true,"category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.855+00:00"},
{"id":27,"template_id":"01a2045b-bccc-702f-8681-d5933339517a","is_public":true,"category_id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.86+00:00"},
{"id":28,"template_id":"01a2045b-bccc-702f-8681-d955216a8267","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.863+00:00"},
{"id":29,"template_id":"01a2045b-bccc-702f-8681-de57b1c84705","is_public":true,"category_id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.867+00:00"},
{"id":3,"template_id":"01a2045b-bccb-77fa-9df0-fbdfc0a4400b","is_public":true,"category_id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.755+00:00"},
{"id":30,"template_id":"01a2045b-bccc-702f-8681-e0d3e3b410b6","is_public":true,"category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.872+00:00"},
{"id":31,"template_id":"01a2045b-bccc-702f-8681-e424feb21867","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.876+00:00"},
{"id":32,"template_id":"01a2045b-bccc-702f-8681-e8840bdfc5dd","is_public":true,"category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.879+00:00"},
{"id":33,"template_id":"01a2045b-bccc-702f-8681-eec04bccb2cb","is_public":true,"category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.883+00:00"},
{"id":34,"template_id":"01a2045b-bccc-702f-8681-f263719ee5fa","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.89+00:00"},
{"id":35,"template_id":"01a2045b-bccc-702f-8681-f4b3c905ace4","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":36,"template_id":"01a2045b-bccc-702f-8681-f9cc1c5e9513","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.901+00:00"},
{"id":37,"template_id":"01a2045b-bccc-702f-8681-ff1ddb8d6d31","is_public":true,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.905+00:00"},
{"id":38,"template_id":"01a2045b-bccc-702f-8682-01bf24339004","is_public":true,"category_id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.916+00:00"},
{"id":39,"template_id":"01a2045b-bccc-702f-8682-06ad102349f5","is_public":true,"category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":4,"template_id":"01a2045b-bccb-77fa-9df0-fe209123d3a9","is_public":true,"category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.762+00:00"},
{"id":40,"template_id":"01a2045b-bccc-702f-8682-0bd797fde87b","is_public":true,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.921+00:00"},
{"id":41,"template_id":"01a2045b-bccc-702f-8682-0fd6db9f381d","is_public":true,"category_id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:17.283+00:00"},
{"id":42,"template_id":"01a2045b-bccc-702f-8682-12660c19c1f9","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.926+00:00"},
{"id":43,"template_id":"01a2045b-bccc-702f-8682-165ac24af5cd","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.934+00:00"},
{"id":44,"template_id":"01a2045b-bccc-702f-8682-1b0207bdf087","is_public":true,"category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.937+00:00"},
{"id":45,"template_id":"01a2045b-bccc-702f-8682-1d28a0cda675","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":46,"template_id":"01a2045b-bccc-702f-8682-23eed35e3758","is_public":true,"category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":null},
{"id":47,"template_id":"01a2045b-bccc-702f-8682-273f06a1bd6d","is_public":true,"category_id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.941+00:00"},
{"id":48,"template_id":"01a2045b-bccc-702f-8682-2ba1e9609342","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.946+00:00"},
{"id":49,"template_id":"01a2045b-bccc-702f-8682-2e9e0a511b4a","is_public":true,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.952+00:00"},
{"id":5,"template_id":"01a2045b-bccb-77fa-9df1-00d2490f4c49","is_public":true,"category_id":"01a2045b-bc0b-703c-b51a-2f2b1c05a8f4","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.769+00:00"},
{"id":50,"template_id":"01a2045b-bccc-702f-8682-333627754947","is_public":true,"category_id":"01a2045b-bc3a-732f-a87a-87a4faf7450d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.957+00:00"},
{"id":51,"template_id":"01a2045b-bccc-702f-8682-359737dc7e45","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.96+00:00"},
{"id":52,"template_id":"01a2045b-bccc-702f-8682-3ba1ef683260","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.964+00:00"},
{"id":53,"template_id":"01a2045b-bccc-702f-8682-3cdd24e63fbd","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.898+00:00"},
{"id":54,"template_id":"01a2045b-bccc-702f-8682-422a11742f10","is_public":true,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.968+00:00"},
{"id":55,"template_id":"01a2045b-bccc-702f-8682-4463485dcf80","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.974+00:00"},
{"id":56,"template_id":"01a2045b-bccc-702f-8682-49bca6b2ccf4","is_public":true,"category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.979+00:00"},
{"id":57,"template_id":"01a2045b-bccc-702f-8682-4eef2d964bad","is_public":true,"category_id":"01a2045b-bc1a-71a9-9fa4-aa8b59739f33","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.985+00:00"},
{"id":58,"template_id":"01a2045b-bccc-702f-8682-503f146983a5","is_public":true,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.989+00:00"},
{"id":59,"template_id":"01a2045b-bccc-702f-8682-547cd13c70a7","is_public":true,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.91+00:00"},
{"id":6,"template_id":"01a2045b-bccb-77fa-9df1-07a6b55a45ea","is_public":true,"category_id":"01a2045b-bc16-712f-9f7f-ba4bc2a9e285","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:17.034+00:00"},
{"id":60,"template_id":"01a2045b-bccb-77fa-9df1-07a6b55a45ea","is_public":true,"category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","owner_org_id":null,"valid_from":"2026-11-22T17:44:17.034+00:00","valid_to":null},
{"id":61,"template_id":"01a2045b-d746-720a-b7cb-5afd81163356","is_public":true,"category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","owner_org_id":null,"valid_from":"2026-11-22T17:44:17.472+00:00","valid_to":null},
{"id":7,"template_id":"01a2045b-bccb-77fa-9df1-09a84feae3ce","is_public":true,"category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.774+00:00"},
{"id":8,"template_id":"01a2045b-bccb-77fa-9df1-0d8339ec2979","is_public":true,"category_id":"01a2045b-bc2c-70e9-b2a5-ce1162b680ea","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.894+00:00"},
{"id":9,"template_id":"01a2045b-bccb-77fa-9df1-11d97f0dc7b0","is_public":true,"category_id":"01a2045b-bc30-772e-92a5-a3b43d05fe0a","owner_org_id":null,"valid_from":"2026-11-22T17:44:10.447+00:00","valid_to":"2026-11-22T17:44:16.781+00:00"}]');
DELETE FROM "templates";
INSERT INTO "templates" SELECT * FROM json_populate_recordset(null::"templates",  E'[{"id":"01a2045b-bccb-77fa-9df1-07a6b55a45ea","name":"ComfyUI","slug":"comfyui","description":"Node editor for image and video generation with Stable Diffusion, Flux and others, in a community image for CUDA 12.6.","version":"1.0.0","kind":"service","category_id":"01a2045b-d575-7777-98f8-29e2f1745ba0","image_name":"yanwk/comfyui-boot","image_tag":"cu126-slim","cpu_request":"4","memory_request":"16Gi","gpu_count":1,"vram_request":"12Gi","concurrent_jobs":1,"env":[],"env_schema":[{"name": "CLI_ARGS", "required": false, "description": "Arguments for ComfyUI, for example --lowvram or --fast.", "default_value": ""}, {"name": "HF_TOKEN", "required": false, "description": "Hugging Face token for gated model downloads.", "default_value": ""}],"ports":[{"protocol": "TCP", "containerPort": 8188}],"volume_mounts":[{"name": "storage", "mountPath": "/root"}],"node_selector":{"kubernetes.io/arch": "amd64"},"required_network_types":[],"tags":["image","diffusion","stable-diffusion","flux","gpu"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# ComfyUI\\n\\nBuilds image and video pipelines from nodes. At the first start the image copies ComfyUI and its manager into the\\nvolume, and runs it from there.\\n\\n## Access\\nOpen port 8188. There is no sign-in: keep it private, or put an authenticating proxy in front.\\n\\n## Notes\\n- Everything (models, custom nodes, outputs) is under `/root`; models go to `/root/ComfyUI/models`.\\n- `CLI_ARGS` passes options such as `--lowvram` for small cards.\\n- The project publishes rolling tags for each CUDA line, not numbered ones. Pin a digest for exact repeats.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/system_stats\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":[],"tolerations":[{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}],"icon_url":null,"owner_org_id":null,"search_text":"comfyui\\u001fnode editor for image and video generation with stable diffusion, flux and others, in a community image for cuda 12.6.","sort_name":"comfyui","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:17.034+00:00","weight":1675},
{"id":"01a2045b-bccc-702f-8681-f4b3c905ace4","name":"Ollama","slug":"ollama","description":"Pulls and serves open models by name, with a simple API of its own and an OpenAI-compatible one.","version":"1.0.0","kind":"service","category_id":"01a2045b-bbfb-772b-891c-905c7ec5c10e","image_name":"ollama/ollama","image_tag":"0.15.2","cpu_request":"4","memory_request":"16Gi","gpu_count":1,"vram_request":"8Gi","concurrent_jobs":1,"env":[],"env_schema":[{"name": "OLLAMA_KEEP_ALIVE", "required": false, "description": "How long a model stays loaded after its last request, for example 5m, 24h or -1 for no limit.", "default_value": "5m"}, {"name": "OLLAMA_NUM_PARALLEL", "required": false, "description": "Requests that each loaded model processes at the same time.", "default_value": "2"}, {"name": "OLLAMA_MAX_LOADED_MODELS", "required": false, "description": "Models kept in memory at the same time.", "default_value": "1"}, {"name": "OLLAMA_CONTEXT_LENGTH", "required": false, "description": "Default context window in tokens.", "default_value": "4096"}],"ports":[{"protocol": "TCP", "containerPort": 11434}],"volume_mounts":[{"name": "ollama-data", "mountPath": "/root/.ollama"}],"node_selector":{},"required_network_types":[],"tags":["llm","inference","openai","gpu"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# Ollama\\n\\nA model runner that downloads models by name and loads them on demand. It starts without any model.\\n\\n## Access\\nThe API listens on port 11434. It has no authentication: keep it on a private network, or put a gateway such as\\nLiteLLM or Open WebUI in front of it.\\n\\n## Notes\\n- `OLLAMA_KEEP_ALIVE` decides when an idle model leaves the GPU.\\n- `OLLAMA_NUM_PARALLEL` and `OLLAMA_CONTEXT_LENGTH` multiply the memory that a model takes.\\n- The `ollama-data` volume keeps the downloaded models.\\n\\n## Example\\n```sh\\ncurl http://$ENDPOINT/api/pull -d ''{\\"model\\": \\"llama3.2\\"}''\\ncurl http://$ENDPOINT/api/generate -d ''{\\"model\\": \\"llama3.2\\", \\"prompt\\": \\"Why is the sky blue?\\", \\"stream\\": false}''\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":[],"tolerations":[{"key": "nvidia.com/gpu", "effect": "NoSchedule", "operator": "Exists"}],"icon_url":null,"owner_org_id":null,"search_text":"ollama\\u001fpulls and serves open models by name, with a simple api of its own and an openai-compatible one.","sort_name":"ollama","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","weight":2044},
{"id":"01a2045b-bccc-702f-8682-06ad102349f5","name":"PostgreSQL","slug":"postgresql","description":"The PostgreSQL 17 relational database with one persistent volume.","version":"1.0.0","kind":"service","category_id":"01a2045b-bc1c-75a8-9a8a-570edbb521fa","image_name":"postgres","image_tag":"17.5","cpu_request":"1","memory_request":"1Gi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[{"name": "PGDATA", "value": "/var/lib/postgresql/data/pgdata"}],"env_schema":[{"name": "POSTGRES_PASSWORD", "required": true, "description": "Password of the first user.", "default_value": ""}, {"name": "POSTGRES_USER", "required": false, "description": "Name of the first user, who is superuser.", "default_value": "postgres"}, {"name": "POSTGRES_DB", "required": false, "description": "Database that is created at the first start.", "default_value": "app"}, {"name": "POSTGRES_INITDB_ARGS", "required": false, "description": "Arguments for initdb at the first start.", "default_value": "--data-checksums"}],"ports":[{"protocol": "TCP", "containerPort": 5432}],"volume_mounts":[{"name": "data", "mountPath": "/var/lib/postgresql/data"}],"node_selector":{},"required_network_types":[],"tags":["database","sql","postgres"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# PostgreSQL\\n\\nOne PostgreSQL server. It is not replicated: back it up, for example with the restic job.\\n\\n## Access\\nPort 5432, with `psql` or any driver.\\n\\n## Notes\\n- The `POSTGRES_` variables are read only while the volume is empty. Change passwords with `ALTER ROLE` later.\\n- `PGDATA` is a folder below the volume, because some file systems put `lost+found` at its top.\\n- A volume belongs to one major version. Moving to the next one needs `pg_dump` and a restore.\\n\\n## Example\\n```sh\\npsql \\"postgresql://postgres:$POSTGRES_PASSWORD@$ENDPOINT/app\\" -c ''SELECT version()''\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":[],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"postgresql\\u001fthe postgresql 17 relational database with one persistent volume.","sort_name":"postgresql","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","weight":1774},
{"id":"01a2045b-bccc-702f-8682-1d28a0cda675","name":"Redis","slug":"redis","description":"An in-memory data store","version":"1.0.0","kind":"service","category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","image_name":"redis","image_tag":"7.4.2","cpu_request":"500m","memory_request":"1Gi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[],"env_schema":[],"ports":[{"protocol": "TCP", "containerPort": 6379}],"volume_mounts":[{"name": "data", "mountPath": "/data"}],"node_selector":{},"required_network_types":["mesh"],"tags":["cache","key-value","redis"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# Redis\\n\\nKeeps data in memory and logs every write to the volume, so that a restart loses a second at most.\\n\\n## Access\\nPort 6379. The image has no variable for a password, so this template requires a private mesh network. To demand\\none, add `--requirepass` and the password to the command.\\n\\n## Notes\\n- `--maxmemory` stays below the requested memory, because writing the log needs room.\\n- For a pure cache use `--maxmemory-policy allkeys-lru` and `--appendonly no`.\\n\\n## Example\\n```sh\\nredis-cli -u redis://$ENDPOINT SET greeting hello\\nredis-cli -u redis://$ENDPOINT GET greeting\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[],"command":["redis-server","--appendonly","yes","--maxmemory","768mb","--maxmemory-policy","noeviction"],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"redis\\u001fan in-memory data store","sort_name":"redis","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:17.212+00:00","weight":1087},
{"id":"01a2045b-bccc-702f-8682-23eed35e3758","name":"Restic backup","slug":"restic-backup","description":"Job that backs up a volume, encrypted and deduplicated, to an S3 bucket or another restic repository.","version":"1.0.0","kind":"job","category_id":"01a2045b-bc2b-775e-abe3-5160dd6cb8f6","image_name":"restic/restic","image_tag":"0.18.0","cpu_request":"500m","memory_request":"1Gi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[],"env_schema":[{"name": "RESTIC_REPOSITORY", "required": true, "description": "Repository, for example s3:https://s3.example.net/backups.", "default_value": ""}, {"name": "AWS_DEFAULT_REGION", "required": false, "description": "Region of the bucket.", "default_value": "us-east-1"}],"ports":[],"volume_mounts":[{"name": "data", "mountPath": "/data"}, {"name": "cache", "mountPath": "/root/.cache/restic"}],"node_selector":{},"required_network_types":[],"tags":["backup","storage","s3","job"],"is_public":true,"is_featured":true,"min_tier":"free","documentation":"# Restic backup\\n\\nRuns once: reads the volume at `/data` and writes what is new to the repository. Everything is encrypted before it\\nleaves the machine.\\n\\n## Before the first run\\n- Create a fleet secret named `restic` with the keys `password`, `access-key` and `secret-key`. Without that password\\n  nothing can be restored. Keep a copy elsewhere.\\n- Initialize the repository once: the same job with the command `init`.\\n\\n## Notes\\n- Attach the volume to save as `data`. Databases should be dumped first, or stopped.\\n- `RESTIC_REPOSITORY` also takes `rest:https://...`, `sftp:...` and other backends.\\n- Old snapshots are removed with the command `forget --keep-daily 7 --keep-weekly 4 --prune`.\\n\\n## Example\\n```sh\\nrestic -r \\"$RESTIC_REPOSITORY\\" snapshots\\nrestic -r \\"$RESTIC_REPOSITORY\\" restore latest --target /tmp/restored\\n```\\n","registry_url":null,"registry_credentials":null,"secret_refs":[{"env": "RESTIC_PASSWORD", "key": "password", "name": "restic"}, {"env": "AWS_ACCESS_KEY_ID", "key": "access-key", "name": "restic"}, {"env": "AWS_SECRET_ACCESS_KEY", "key": "secret-key", "name": "restic"}],"command":["backup","/data","--tag","fleet"],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"restic backup\\u001fjob that backs up a volume, encrypted and deduplicated, to an s3 bucket or another restic repository.","sort_name":"restic backup","created_at":"2026-11-22T17:44:10.447+00:00","updated_at":"2026-11-22T17:44:10.447+00:00","weight":2021},
{"id":"01a2045b-d746-720a-b7cb-5afd81163356","name":"Web","slug":"web","description":"A web server","version":"1.0.0","kind":"service","category_id":"01a2045b-bc2a-729c-a880-da8f302db76d","image_name":"recorded/busybox","image_tag":"1","cpu_request":"50m","memory_request":"32Mi","gpu_count":0,"vram_request":"","concurrent_jobs":1,"env":[{"name": "GREETING", "value": "hello"}],"env_schema":[],"ports":[{"protocol": "TCP", "containerPort": 8080}],"volume_mounts":[{"name": "data", "mountPath": "/data"}],"node_selector":{},"required_network_types":[],"tags":[],"is_public":true,"is_featured":false,"min_tier":"free","documentation":"","registry_url":"localhost","registry_credentials":null,"secret_refs":[{"env": "PASSWORD", "key": "PASSWORD", "name": "web-password"}],"command":["sh","-c","echo \\"$GREETING $PASSWORD\\" > /data/index.html; exec httpd -f -p 8080 -h /data"],"tolerations":[],"icon_url":null,"owner_org_id":null,"search_text":"web\\u001fa web server","sort_name":"web","created_at":"2026-11-22T17:44:17.472+00:00","updated_at":"2026-11-22T17:44:17.472+00:00","weight":602}]');
DELETE FROM "users";
INSERT INTO "users" SELECT * FROM json_populate_recordset(null::"users", '[{"id":"01a2045b-d390-709e-b20c-12a151ff780f","iss":"http://127.0.0.1:4300","sub":"dev-admin","email":"admin@example.test","email_verified":true,"name":"Ada Admin","name_set":false,"role":"superadmin","role_set":false,"org_id":null,"org_role":null,"created_at":"2026-11-22T17:44:16.529+00:00","updated_at":"2026-11-22T17:44:16.528+00:00"}]');
