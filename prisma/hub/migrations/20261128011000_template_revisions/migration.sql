-- CreateTable
CREATE TABLE "template_texts" (
    "sha256" BYTEA NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "template_texts_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "template_revisions" (
    "template_id" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "slug" TEXT NOT NULL,
    "content" JSONB,
    "documentation" BYTEA,
    "author" TEXT,
    "author_id" UUID,
    "message" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "template_revisions_pkey" PRIMARY KEY ("template_id","revision")
);

-- CreateTable
CREATE TABLE "template_advisories" (
    "id" UUID NOT NULL,
    "template_id" UUID NOT NULL,
    "severity" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "url" TEXT,
    "first_revision" INTEGER NOT NULL,
    "last_revision" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "withdrawn_at" TIMESTAMPTZ(3),

    CONSTRAINT "template_advisories_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "template_revisions_documentation_idx" ON "template_revisions"("documentation");

-- CreateIndex
CREATE INDEX "template_advisories_template_id_idx" ON "template_advisories"("template_id");

-- AddForeignKey
ALTER TABLE "template_revisions" ADD CONSTRAINT "template_revisions_documentation_fkey" FOREIGN KEY ("documentation") REFERENCES "template_texts"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE INDEX "template_revisions_deleted_idx" ON "template_revisions" ("at" DESC, "template_id") WHERE "content" IS NULL;

ALTER TABLE "template_revisions"
  ADD CONSTRAINT "template_revisions_deletion_check" CHECK (("content" IS NULL) = ("documentation" IS NULL)),
  ADD CONSTRAINT "template_revisions_message_check" CHECK (char_length("message") <= 1000);

ALTER TABLE "template_advisories"
  ADD CONSTRAINT "template_advisories_severity_check" CHECK ("severity" IN ('note', 'warning', 'critical')),
  ADD CONSTRAINT "template_advisories_message_check" CHECK (char_length("message") BETWEEN 1 AND 2000),
  ADD CONSTRAINT "template_advisories_range_check" CHECK ("first_revision" >= 1 AND "last_revision" >= "first_revision");

-- The content of a template, without its documentation: what its publisher writes. A column that is added later is part of it without a
-- change here. What derives from others, and what tells fleets about the template, is not.
CREATE FUNCTION template_content(t templates) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  t.documentation := ''; -- can have a megabyte
  RETURN to_jsonb(t) - '{id,documentation,search_text,sort_name,weight,resource_version,revision,created_at,updated_at,
                         status,status_message,replacement,advisories}'::text[];
END $$;

-- Triggers run in the order of their names: after template_stamp and template_version.
CREATE FUNCTION template_number_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- A template that is restored with its id continues the numbers of its history.
    NEW.resource_version :=
      greatest(NEW.resource_version, (SELECT max(revision) + 1 FROM template_revisions WHERE template_id = NEW.id));
    NEW.revision := NEW.resource_version;
  ELSIF NEW.documentation <> OLD.documentation OR template_content(NEW) <> template_content(OLD) THEN
    NEW.revision := NEW.resource_version;
  ELSE
    NEW.revision := OLD.revision;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER template_version_of_content BEFORE INSERT OR UPDATE ON "templates"
  FOR EACH ROW EXECUTE FUNCTION template_number_revision();

-- Author and message are those of the transaction: the setting hub.change. An earlier release of the hub and SQL do not set it.
CREATE FUNCTION template_record_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change json := nullif(current_setting('hub.change', true), '')::json;
  hash bytea;
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO template_revisions (template_id, revision, at, slug, author, author_id, message)
      VALUES (OLD.id, OLD.resource_version + 1, catalog_stamp(), OLD.slug,
              change ->> 'author', (change ->> 'author_id')::uuid, coalesce(change ->> 'message', ''));
    RETURN NULL;
  END IF;
  hash := sha256(convert_to(NEW.documentation, 'UTF8'));
  INSERT INTO template_texts (sha256, text) VALUES (hash, NEW.documentation) ON CONFLICT DO NOTHING;
  INSERT INTO template_revisions (template_id, revision, at, slug, content, documentation, author, author_id, message)
    VALUES (NEW.id, NEW.revision, NEW.updated_at, NEW.slug, template_content(NEW), hash,
            change ->> 'author', (change ->> 'author_id')::uuid, coalesce(change ->> 'message', ''));
  RETURN NULL;
END $$;
CREATE TRIGGER template_record_revision AFTER INSERT OR DELETE ON "templates"
  FOR EACH ROW EXECUTE FUNCTION template_record_revision();
CREATE TRIGGER template_record_changed_revision AFTER UPDATE ON "templates"
  FOR EACH ROW WHEN (NEW."revision" <> OLD."revision") EXECUTE FUNCTION template_record_revision();

-- The present state of each template is its first known revision. The stamps stay, so that no client receives the templates again.
ALTER TABLE "templates" DISABLE TRIGGER USER;
UPDATE "templates" SET "revision" = "resource_version" WHERE "revision" <> "resource_version";
ALTER TABLE "templates" ENABLE TRIGGER USER;
INSERT INTO "template_texts" ("sha256", "text")
  SELECT DISTINCT ON (1) sha256(convert_to("documentation", 'UTF8')), "documentation" FROM "templates";
INSERT INTO "template_revisions" ("template_id", "revision", "at", "slug", "content", "documentation")
  SELECT t."id", t."revision", t."updated_at", t."slug", template_content(t), sha256(convert_to(t."documentation", 'UTF8'))
  FROM "templates" t;

-- Revisions are immutable. Only template_history_prune deletes some.
CREATE FUNCTION template_history_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('hub.history_pruning', true) = pg_current_xact_id()::text THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'revisions of templates cannot be changed or deleted' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER template_history_refuse_change BEFORE UPDATE OR DELETE ON "template_revisions"
  FOR EACH ROW EXECUTE FUNCTION template_history_refuse_change();
CREATE TRIGGER template_history_refuse_truncate BEFORE TRUNCATE ON "template_revisions"
  FOR EACH STATEMENT EXECUTE FUNCTION template_history_refuse_change();
CREATE TRIGGER template_texts_refuse_change BEFORE UPDATE OR DELETE ON "template_texts"
  FOR EACH ROW EXECUTE FUNCTION template_history_refuse_change();
CREATE TRIGGER template_texts_refuse_truncate BEFORE TRUNCATE ON "template_texts"
  FOR EACH STATEMENT EXECUTE FUNCTION template_history_refuse_change();

-- Keeps the newest 500 revisions of each template, and forgets templates that were deleted before `before`, at least a day ago: the
-- caller can be a role that has no right to delete revisions. Deletes at most 2,000 revisions, and returns their number. They are found
-- without the lock of the catalog: a revision that is too old stays so, and only whether a template is still deleted is checked again.
-- The deletion of a template is forgotten last.
CREATE FUNCTION template_history_prune(before timestamptz) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  keep CONSTANT integer := 500;
  ids uuid[];
  numbers integer[];
  forgotten boolean[];
  hashes bytea[];
  deleted integer;
BEGIN
  before := least(before, now() - interval '1 day');
  SELECT array_agg(chosen.template_id), array_agg(chosen.revision), array_agg(chosen.forgotten) INTO ids, numbers, forgotten FROM (
    SELECT old.template_id, old.revision, false AS forgotten
      FROM (SELECT template_id FROM template_revisions GROUP BY template_id HAVING count(*) > keep) many,
        LATERAL (SELECT r.template_id, r.revision FROM template_revisions r WHERE r.template_id = many.template_id
                 ORDER BY r.revision DESC OFFSET keep) old
    UNION ALL
    SELECT r.template_id, r.revision, true
      FROM template_revisions deletion JOIN template_revisions r ON r.template_id = deletion.template_id
      WHERE deletion.content IS NULL AND deletion.at < before
        AND NOT EXISTS (SELECT FROM templates t WHERE t.id = deletion.template_id)
        AND NOT EXISTS (SELECT FROM template_revisions later
                        WHERE later.template_id = deletion.template_id AND later.revision > deletion.revision)
    ORDER BY 1, 2 LIMIT 2000) chosen;
  IF ids IS NULL THEN
    RETURN 0;
  END IF;
  -- A writer could refer to a text while it is deleted.
  PERFORM FROM catalog_clock FOR UPDATE;
  PERFORM set_config('hub.history_pruning', pg_current_xact_id()::text, true);
  WITH pruned AS (
    DELETE FROM template_revisions r USING unnest(ids, numbers, forgotten) AS chosen (template_id, revision, forgotten)
      WHERE r.template_id = chosen.template_id AND r.revision = chosen.revision
        AND NOT (chosen.forgotten AND EXISTS (SELECT FROM templates t WHERE t.id = chosen.template_id))
      RETURNING r.documentation)
  SELECT count(*), array_agg(DISTINCT documentation) INTO deleted, hashes FROM pruned;
  DELETE FROM template_texts x WHERE x.sha256 = ANY (hashes)
    AND NOT EXISTS (SELECT FROM template_revisions r WHERE r.documentation = x.sha256);
  DELETE FROM template_advisories a WHERE a.template_id = ANY (ids)
    AND NOT EXISTS (SELECT FROM template_revisions r WHERE r.template_id = a.template_id);
  PERFORM set_config('hub.history_pruning', '', true);
  RETURN deleted;
END $$;
-- Temporary tables of the caller come last. By default, they would come first.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION template_history_prune(timestamptz) SET search_path = pg_catalog, %I, pg_temp',
                 current_schema());
END $$;
-- Other roles that can connect to this database must not delete revisions.
REVOKE ALL ON FUNCTION template_history_prune(timestamptz) FROM PUBLIC;

-- The open advisories of a template, as everyone who sees it receives them.
CREATE FUNCTION template_open_advisories(template uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'severity', severity, 'message', message, 'url', url,
                                               'first_revision', first_revision, 'last_revision', last_revision)
                            ORDER BY created_at, id), '[]')
  FROM template_advisories WHERE template_id = template AND withdrawn_at IS NULL $$;

CREATE FUNCTION template_show_advisories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE templates SET advisories = template_open_advisories(id) WHERE id = coalesce(NEW.template_id, OLD.template_id);
  RETURN NULL;
END $$;
CREATE TRIGGER template_show_advisories AFTER INSERT OR UPDATE OR DELETE ON "template_advisories"
  FOR EACH ROW EXECUTE FUNCTION template_show_advisories();

-- A template that is restored has its open advisories again. The name of the trigger sorts before template_stamp, so that they count
-- towards the weight.
CREATE FUNCTION template_restore_advisories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.advisories := template_open_advisories(NEW.id);
  RETURN NEW;
END $$;
CREATE TRIGGER template_restore_advisories BEFORE INSERT ON "templates"
  FOR EACH ROW EXECUTE FUNCTION template_restore_advisories();
