-- Whatever the planner knows of the data: what holds now is found by one key, and there is one row of it; what ended is
-- found by when it did. One index over both would be read whole for "not ended".
DROP INDEX "template_scopes_valid_to_idx";
DROP INDEX "category_privacy_valid_to_idx";
DROP INDEX "catalog_access_periods_valid_to_idx";

CREATE UNIQUE INDEX "template_scopes_open_key" ON "template_scopes" ("template_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;
CREATE UNIQUE INDEX "category_privacy_open_key" ON "category_privacy" ("category_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;
CREATE UNIQUE INDEX "catalog_access_periods_open_key" ON "catalog_access_periods" ("org_id", "category_id") INCLUDE ("valid_from") WHERE "valid_to" IS NULL;

CREATE INDEX "template_scopes_ended_idx" ON "template_scopes" ("valid_to") WHERE "valid_to" IS NOT NULL;
CREATE INDEX "category_privacy_ended_idx" ON "category_privacy" ("valid_to") WHERE "valid_to" IS NOT NULL;
CREATE INDEX "catalog_access_periods_ended_idx" ON "catalog_access_periods" ("valid_to") WHERE "valid_to" IS NOT NULL;

-- Pages are cut by weight before a template is read: some have a megabyte of documentation.
ALTER TABLE "templates" ADD COLUMN "weight" INTEGER NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION template_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- What is there is weighed without a stamp: nobody sees a difference.
ALTER TABLE "templates" DISABLE TRIGGER "template_stamp";
UPDATE "templates" SET "weight" = octet_length("templates"::text);
ALTER TABLE "templates" ENABLE TRIGGER "template_stamp";
