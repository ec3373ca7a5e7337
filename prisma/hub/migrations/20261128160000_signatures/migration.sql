-- AlterTable
ALTER TABLE "templates" ADD COLUMN "signatures" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "publishers" (
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "root" JSONB NOT NULL,
    "keyring" TEXT NOT NULL,
    "transitions" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "publishers_pkey" PRIMARY KEY ("slug")
);

ALTER TABLE "templates"
  ADD CONSTRAINT "templates_signatures_check" CHECK (cardinality("signatures") <= 8);

ALTER TABLE "publishers"
  ADD CONSTRAINT "publishers_transitions_check" CHECK (cardinality("transitions") <= 8);

-- Signatures are about the content and not part of it: a template that is signed again has no new revision.
CREATE OR REPLACE FUNCTION template_content(t templates) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  t.documentation := ''; -- can have a megabyte
  RETURN to_jsonb(t) - '{id,documentation,search_text,sort_name,weight,resource_version,revision,created_at,updated_at,
                         status,status_message,replacement,advisories,signatures}'::text[];
END $$;
