-- CreateTable
CREATE TABLE "application_texts" (
    "sha256" BYTEA NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "application_texts_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "application_revisions" (
    "application_id" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "slug" TEXT NOT NULL,
    "content" JSONB,
    "documentation" BYTEA,
    "author" TEXT,
    "author_id" UUID,
    "message" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "application_revisions_pkey" PRIMARY KEY ("application_id","revision")
);

-- CreateTable
CREATE TABLE "application_advisories" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "severity" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "url" TEXT,
    "first_revision" INTEGER NOT NULL,
    "last_revision" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "withdrawn_at" TIMESTAMPTZ(3),

    CONSTRAINT "application_advisories_pkey" PRIMARY KEY ("id")
);

-- AlterTable
ALTER TABLE "applications" ADD COLUMN "advisories" JSONB NOT NULL DEFAULT '[]';

-- CreateIndex
CREATE INDEX "application_revisions_documentation_idx" ON "application_revisions"("documentation");

-- CreateIndex
CREATE INDEX "application_advisories_application_id_idx" ON "application_advisories"("application_id");

-- AddForeignKey
ALTER TABLE "application_revisions" ADD CONSTRAINT "application_revisions_documentation_fkey" FOREIGN KEY ("documentation") REFERENCES "application_texts"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE INDEX "application_revisions_deleted_idx" ON "application_revisions" ("at" DESC, "application_id") WHERE "content" IS NULL;

ALTER TABLE "application_revisions"
  ADD CONSTRAINT "application_revisions_deletion_check" CHECK (("content" IS NULL) = ("documentation" IS NULL)),
  ADD CONSTRAINT "application_revisions_message_check" CHECK (char_length("message") <= 1000);

ALTER TABLE "application_advisories"
  ADD CONSTRAINT "application_advisories_severity_check" CHECK ("severity" IN ('note', 'warning', 'critical')),
  ADD CONSTRAINT "application_advisories_message_check" CHECK (char_length("message") BETWEEN 1 AND 2000),
  ADD CONSTRAINT "application_advisories_range_check" CHECK ("first_revision" >= 1 AND "last_revision" >= "first_revision");

-- As for templates: what tells fleets about an application, and signatures, are not its content.
CREATE OR REPLACE FUNCTION application_content(a applications) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  a.documentation := ''; -- can have a megabyte
  RETURN to_jsonb(a) - '{id,documentation,search_text,sort_name,weight,resource_version,revision,created_at,updated_at,
                         status,status_message,replacement,advisories,signatures}'::text[];
END $$;

CREATE OR REPLACE FUNCTION application_number_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- An application that is restored with its id continues the numbers of its history.
    NEW.resource_version :=
      greatest(NEW.resource_version, (SELECT max(revision) + 1 FROM application_revisions WHERE application_id = NEW.id));
    NEW.revision := NEW.resource_version;
  ELSIF NEW.documentation <> OLD.documentation OR application_content(NEW) <> application_content(OLD) THEN
    NEW.revision := NEW.resource_version;
  ELSE
    NEW.revision := OLD.revision;
  END IF;
  RETURN NEW;
END $$;

-- Author and message are those of the transaction, as for templates.
CREATE FUNCTION application_record_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change json := nullif(current_setting('hub.change', true), '')::json;
  hash bytea;
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO application_revisions (application_id, revision, at, slug, author, author_id, message)
      VALUES (OLD.id, OLD.resource_version + 1, catalog_stamp(), OLD.slug,
              change ->> 'author', (change ->> 'author_id')::uuid, coalesce(change ->> 'message', ''));
    RETURN NULL;
  END IF;
  hash := sha256(convert_to(NEW.documentation, 'UTF8'));
  INSERT INTO application_texts (sha256, text) VALUES (hash, NEW.documentation) ON CONFLICT DO NOTHING;
  INSERT INTO application_revisions (application_id, revision, at, slug, content, documentation, author, author_id, message)
    VALUES (NEW.id, NEW.revision, NEW.updated_at, NEW.slug, application_content(NEW), hash,
            change ->> 'author', (change ->> 'author_id')::uuid, coalesce(change ->> 'message', ''));
  RETURN NULL;
END $$;
CREATE TRIGGER application_record_revision AFTER INSERT OR DELETE ON "applications"
  FOR EACH ROW EXECUTE FUNCTION application_record_revision();
CREATE TRIGGER application_record_changed_revision AFTER UPDATE ON "applications"
  FOR EACH ROW WHEN (NEW."revision" <> OLD."revision") EXECUTE FUNCTION application_record_revision();

-- The present state of each application is its first known revision.
INSERT INTO "application_texts" ("sha256", "text")
  SELECT DISTINCT ON (1) sha256(convert_to("documentation", 'UTF8')), "documentation" FROM "applications";
INSERT INTO "application_revisions" ("application_id", "revision", "at", "slug", "content", "documentation")
  SELECT a."id", a."revision", a."updated_at", a."slug", application_content(a), sha256(convert_to(a."documentation", 'UTF8'))
  FROM "applications" a;

-- Revisions are immutable. Only application_history_prune deletes some.
CREATE OR REPLACE FUNCTION template_history_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('hub.history_pruning', true) = pg_current_xact_id()::text THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'revisions in the catalog cannot be changed or deleted' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER application_history_refuse_change BEFORE UPDATE OR DELETE ON "application_revisions"
  FOR EACH ROW EXECUTE FUNCTION template_history_refuse_change();
CREATE TRIGGER application_history_refuse_truncate BEFORE TRUNCATE ON "application_revisions"
  FOR EACH STATEMENT EXECUTE FUNCTION template_history_refuse_change();
CREATE TRIGGER application_texts_refuse_change BEFORE UPDATE OR DELETE ON "application_texts"
  FOR EACH ROW EXECUTE FUNCTION template_history_refuse_change();
CREATE TRIGGER application_texts_refuse_truncate BEFORE TRUNCATE ON "application_texts"
  FOR EACH STATEMENT EXECUTE FUNCTION template_history_refuse_change();

-- The rule of template_history_prune, for applications.
CREATE FUNCTION application_history_prune(before timestamptz) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  keep CONSTANT integer := 500;
  ids uuid[];
  numbers integer[];
  forgotten boolean[];
  hashes bytea[];
  deleted integer;
BEGIN
  before := least(before, now() - interval '1 day');
  SELECT array_agg(chosen.application_id), array_agg(chosen.revision), array_agg(chosen.forgotten) INTO ids, numbers, forgotten FROM (
    SELECT old.application_id, old.revision, false AS forgotten
      FROM (SELECT application_id FROM application_revisions GROUP BY application_id HAVING count(*) > keep) many,
        LATERAL (SELECT r.application_id, r.revision FROM application_revisions r WHERE r.application_id = many.application_id
                 ORDER BY r.revision DESC OFFSET keep) old
    UNION ALL
    SELECT r.application_id, r.revision, true
      FROM application_revisions deletion JOIN application_revisions r ON r.application_id = deletion.application_id
      WHERE deletion.content IS NULL AND deletion.at < before
        AND NOT EXISTS (SELECT FROM applications a WHERE a.id = deletion.application_id)
        AND NOT EXISTS (SELECT FROM application_revisions later
                        WHERE later.application_id = deletion.application_id AND later.revision > deletion.revision)
    ORDER BY 1, 2 LIMIT 2000) chosen;
  IF ids IS NULL THEN
    RETURN 0;
  END IF;
  -- A writer could refer to a text while it is deleted.
  PERFORM FROM catalog_clock FOR UPDATE;
  PERFORM set_config('hub.history_pruning', pg_current_xact_id()::text, true);
  WITH pruned AS (
    DELETE FROM application_revisions r USING unnest(ids, numbers, forgotten) AS chosen (application_id, revision, forgotten)
      WHERE r.application_id = chosen.application_id AND r.revision = chosen.revision
        AND NOT (chosen.forgotten AND EXISTS (SELECT FROM applications a WHERE a.id = chosen.application_id))
      RETURNING r.documentation)
  SELECT count(*), array_agg(DISTINCT documentation) INTO deleted, hashes FROM pruned;
  DELETE FROM application_texts x WHERE x.sha256 = ANY (hashes)
    AND NOT EXISTS (SELECT FROM application_revisions r WHERE r.documentation = x.sha256);
  DELETE FROM application_advisories v WHERE v.application_id = ANY (ids)
    AND NOT EXISTS (SELECT FROM application_revisions r WHERE r.application_id = v.application_id);
  PERFORM set_config('hub.history_pruning', '', true);
  RETURN deleted;
END $$;
-- Temporary tables of the caller come last. By default, they would come first.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION application_history_prune(timestamptz) SET search_path = pg_catalog, %I, pg_temp',
                 current_schema());
END $$;
-- Other roles that can connect to this database must not delete revisions.
REVOKE ALL ON FUNCTION application_history_prune(timestamptz) FROM PUBLIC;

-- The open advisories of an application, as everyone who sees it receives them.
CREATE FUNCTION application_open_advisories(application uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'severity', severity, 'message', message, 'url', url,
                                               'first_revision', first_revision, 'last_revision', last_revision)
                            ORDER BY created_at, id), '[]')
  FROM application_advisories WHERE application_id = application AND withdrawn_at IS NULL $$;

CREATE FUNCTION application_show_advisories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE applications SET advisories = application_open_advisories(id)
    WHERE id = coalesce(NEW.application_id, OLD.application_id);
  RETURN NULL;
END $$;
CREATE TRIGGER application_show_advisories AFTER INSERT OR UPDATE OR DELETE ON "application_advisories"
  FOR EACH ROW EXECUTE FUNCTION application_show_advisories();

-- The name of the trigger sorts before application_stamp, so that the advisories count towards the weight.
CREATE FUNCTION application_restore_advisories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.advisories := application_open_advisories(NEW.id);
  RETURN NEW;
END $$;
CREATE TRIGGER application_restore_advisories BEFORE INSERT ON "applications"
  FOR EACH ROW EXECUTE FUNCTION application_restore_advisories();
