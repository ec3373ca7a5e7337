-- AlterTable
ALTER TABLE "applications" ADD COLUMN "signatures" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

ALTER TABLE "applications"
  ADD CONSTRAINT "applications_signatures_check" CHECK (cardinality("signatures") <= 8);

-- As for templates: an application that is signed again has no new revision.
CREATE OR REPLACE FUNCTION application_content(a applications) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  a.documentation := ''; -- can have a megabyte
  RETURN to_jsonb(a) - '{id,documentation,search_text,sort_name,weight,resource_version,revision,created_at,updated_at,
                         status,status_message,replacement,signatures}'::text[];
END $$;
