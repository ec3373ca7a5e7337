-- Lists without documentation do not read signatures either.
CREATE OR REPLACE FUNCTION catalog_template_summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.summary := NEW.document || '{"documentation": "", "signatures": []}'::jsonb;
  NEW.document_bytes := octet_length(NEW.document::text);
  NEW.summary_bytes := octet_length(NEW.summary::text);
  RETURN NEW;
END $$;
