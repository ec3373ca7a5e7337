-- The size of a page is known before its rows are read.
ALTER TABLE "workload_revisions" ADD COLUMN "spec_bytes" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "deployments" ADD COLUMN "env_bytes" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "deployment_revisions" ADD COLUMN "env_bytes" INTEGER NOT NULL DEFAULT 0;

-- Triggers, because earlier versions store rows, too.
CREATE FUNCTION set_spec_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.spec_bytes := octet_length(NEW.spec::text) + octet_length(NEW.overrides::text);
  RETURN NEW;
END $$;

CREATE FUNCTION set_env_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.env_bytes := octet_length(NEW.env::text);
  RETURN NEW;
END $$;

-- Small rows from before keep 0. No other trigger runs, because nothing changes that the API shows.
ALTER TABLE "workload_revisions" DISABLE TRIGGER USER;
ALTER TABLE "deployments" DISABLE TRIGGER USER;
ALTER TABLE "deployment_revisions" DISABLE TRIGGER USER;
UPDATE "workload_revisions" SET "spec_bytes" = octet_length("spec"::text) + octet_length("overrides"::text)
  WHERE pg_column_size("spec") + pg_column_size("overrides") > 1000;
UPDATE "deployments" SET "env_bytes" = octet_length("env"::text) WHERE pg_column_size("env") > 1000;
UPDATE "deployment_revisions" SET "env_bytes" = octet_length("env"::text) WHERE pg_column_size("env") > 1000;
ALTER TABLE "workload_revisions" ENABLE TRIGGER USER;
ALTER TABLE "deployments" ENABLE TRIGGER USER;
ALTER TABLE "deployment_revisions" ENABLE TRIGGER USER;

CREATE TRIGGER set_spec_bytes BEFORE INSERT OR UPDATE OF "spec", "overrides" ON "workload_revisions"
  FOR EACH ROW EXECUTE FUNCTION set_spec_bytes();
CREATE TRIGGER set_env_bytes BEFORE INSERT OR UPDATE OF "env" ON "deployments"
  FOR EACH ROW EXECUTE FUNCTION set_env_bytes();
CREATE TRIGGER set_env_bytes BEFORE INSERT OR UPDATE OF "env" ON "deployment_revisions"
  FOR EACH ROW EXECUTE FUNCTION set_env_bytes();

-- The size of a revision changes when its values are sealed.
CREATE OR REPLACE FUNCTION workload_revision_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('fleet.seals_values', true) = 'on'
    AND to_jsonb(NEW) - 'spec' - 'overrides' - 'spec_bytes' = to_jsonb(OLD) - 'spec' - 'overrides' - 'spec_bytes'
    AND NEW.spec - 'env' = OLD.spec - 'env' AND NEW.overrides - 'env' = OLD.overrides - 'env' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'revisions of workloads cannot be changed' USING ERRCODE = 'insufficient_privilege';
END $$;
