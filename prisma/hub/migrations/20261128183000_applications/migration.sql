-- CreateTable
CREATE TABLE "applications" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "version" TEXT NOT NULL DEFAULT '1.0.0',
    "category_id" UUID NOT NULL,
    "inputs" JSONB NOT NULL DEFAULT '[]',
    "generated" JSONB NOT NULL DEFAULT '[]',
    "parts" JSONB NOT NULL,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_public" BOOLEAN NOT NULL DEFAULT true,
    "is_featured" BOOLEAN NOT NULL DEFAULT false,
    "min_tier" TEXT NOT NULL DEFAULT 'free',
    "documentation" TEXT NOT NULL DEFAULT '',
    "owner_org_id" UUID,
    "search_text" TEXT NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "weight" INTEGER NOT NULL DEFAULT 0,
    "resource_version" INTEGER NOT NULL DEFAULT 1,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "status" TEXT NOT NULL DEFAULT 'active',
    "status_message" TEXT NOT NULL DEFAULT '',
    "replacement" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "applications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "application_downloads" (
    "application_id" UUID NOT NULL,
    "count" BIGINT NOT NULL DEFAULT 0,
    "counted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "application_downloads_pkey" PRIMARY KEY ("application_id")
);

-- CreateTable
CREATE TABLE "application_scopes" (
    "id" BIGSERIAL NOT NULL,
    "application_id" UUID NOT NULL,
    "is_public" BOOLEAN NOT NULL,
    "category_id" UUID NOT NULL,
    "owner_org_id" UUID,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),

    CONSTRAINT "application_scopes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "applications_slug_key" ON "applications"("slug");

-- CreateIndex
CREATE INDEX "applications_category_id_idx" ON "applications"("category_id");

-- CreateIndex
CREATE INDEX "applications_owner_org_id_idx" ON "applications"("owner_org_id");

-- CreateIndex
CREATE INDEX "applications_updated_at_id_idx" ON "applications"("updated_at", "id");

-- CreateIndex
CREATE INDEX "applications_sort_name_id_idx" ON "applications"("sort_name", "id");

-- Without a pending list, as for templates.
CREATE INDEX "applications_tags_idx" ON "applications" USING GIN ("tags") WITH (fastupdate = off);

-- CreateIndex
CREATE INDEX "applications_search_text_idx" ON "applications" USING GIN ("search_text" gin_trgm_ops) WITH (fastupdate = off);

-- CreateIndex
CREATE INDEX "application_downloads_counted_at_idx" ON "application_downloads"("counted_at");

-- CreateIndex
CREATE INDEX "application_scopes_application_id_valid_from_idx" ON "application_scopes"("application_id", "valid_from");

-- CreateIndex
CREATE INDEX "application_scopes_category_id_idx" ON "application_scopes"("category_id");

-- AddForeignKey
ALTER TABLE "applications" ADD CONSTRAINT "applications_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "categories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "applications" ADD CONSTRAINT "applications_owner_org_id_fkey" FOREIGN KEY ("owner_org_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "application_downloads" ADD CONSTRAINT "application_downloads_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "applications"
  ADD CONSTRAINT "applications_parts_check" CHECK (jsonb_typeof("parts") = 'array' AND jsonb_array_length("parts") BETWEEN 1 AND 32),
  ADD CONSTRAINT "applications_status_check" CHECK ("status" IN ('active', 'deprecated', 'blocked')),
  ADD CONSTRAINT "applications_status_message_check" CHECK (char_length("status_message") <= 500),
  ADD CONSTRAINT "applications_blocked_check" CHECK ("status" <> 'blocked' OR "status_message" <> '');

-- As for templates: an open scope is found by its object, and ended ones by the time of their end.
CREATE UNIQUE INDEX "application_scopes_open_key" ON "application_scopes" ("application_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;
CREATE INDEX "application_scopes_ended_idx" ON "application_scopes" ("valid_to") WHERE "valid_to" IS NOT NULL;

-- Stamps, weights, versions and counts follow the rules of templates. Triggers run in the order of their names.
CREATE TRIGGER application_stamp BEFORE INSERT OR UPDATE ON "applications"
  FOR EACH ROW EXECUTE FUNCTION template_stamp();
CREATE TRIGGER application_version BEFORE UPDATE ON "applications" FOR EACH ROW
  WHEN (NEW.* IS DISTINCT FROM OLD.*)
  EXECUTE FUNCTION template_version();
CREATE TRIGGER application_counted BEFORE INSERT OR UPDATE ON "application_downloads"
  FOR EACH ROW EXECUTE FUNCTION template_counted();

CREATE FUNCTION application_content(a applications) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  a.documentation := ''; -- can have a megabyte
  RETURN to_jsonb(a) - '{id,documentation,search_text,sort_name,weight,resource_version,revision,created_at,updated_at,
                         status,status_message,replacement}'::text[];
END $$;

CREATE FUNCTION application_number_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.documentation <> OLD.documentation OR application_content(NEW) <> application_content(OLD) THEN
    NEW.revision := NEW.resource_version;
  ELSE
    NEW.revision := OLD.revision;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER application_version_of_content BEFORE INSERT OR UPDATE ON "applications"
  FOR EACH ROW EXECUTE FUNCTION application_number_revision();

-- Records the history of visibility. A state that is replaced within the same transaction is not recorded.
CREATE FUNCTION application_record_scope() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.is_public, NEW.category_id, NEW.owner_org_id)
      IS NOT DISTINCT FROM (OLD.is_public, OLD.category_id, OLD.owner_org_id) THEN
    RETURN NULL;
  END IF;
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    DELETE FROM application_scopes WHERE application_id = OLD.id AND valid_to IS NULL AND valid_from = catalog_stamp();
    UPDATE application_scopes SET valid_to = catalog_stamp() WHERE application_id = OLD.id AND valid_to IS NULL;
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    INSERT INTO application_scopes (application_id, is_public, category_id, owner_org_id, valid_from)
      VALUES (NEW.id, NEW.is_public, NEW.category_id, NEW.owner_org_id, catalog_stamp());
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER application_record_scope AFTER INSERT OR UPDATE OR DELETE ON "applications"
  FOR EACH ROW EXECUTE FUNCTION application_record_scope();
