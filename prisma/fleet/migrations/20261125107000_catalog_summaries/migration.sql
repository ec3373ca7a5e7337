-- Lists without documentation do not read it, and the size of a page is known before it is read.
ALTER TABLE "catalog_templates" ADD COLUMN "summary" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "document_bytes" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "summary_bytes" INTEGER NOT NULL DEFAULT 0;

-- A trigger, because earlier versions store templates, too.
CREATE FUNCTION catalog_template_summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.summary := NEW.document || '{"documentation": ""}'::jsonb;
  NEW.document_bytes := octet_length(NEW.document::text);
  NEW.summary_bytes := octet_length(NEW.summary::text);
  RETURN NEW;
END $$;

CREATE TRIGGER catalog_template_summary BEFORE INSERT OR UPDATE OF "document", "summary" ON "catalog_templates"
  FOR EACH ROW EXECUTE FUNCTION catalog_template_summary();

UPDATE "catalog_templates" SET "summary" = '{}';
