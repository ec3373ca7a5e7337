-- Version 0.2.0 stores texts in lower case, and continues to do so during an upgrade. The trigger replaces the letters
-- that are folded in addition, as `foldSearch` of the contract does.
CREATE FUNCTION search_folded(lower_case text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT replace(replace(replace(replace(lower_case, 'ς', 'σ'), U&'i\0307', 'i'), 'ı', 'i'), 'ß', 'ss')
$$;

CREATE FUNCTION catalog_template_fold_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.search_text := search_folded(NEW.search_text);
  RETURN NEW;
END $$;
CREATE TRIGGER catalog_template_fold_search BEFORE INSERT OR UPDATE OF "search_text" ON "catalog_templates"
  FOR EACH ROW EXECUTE FUNCTION catalog_template_fold_search();

UPDATE "catalog_templates" SET search_text = search_folded(search_text) WHERE search_text <> search_folded(search_text);
