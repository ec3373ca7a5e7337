-- AlterTable
ALTER TABLE "organizations" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "users" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "categories" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "templates" ADD COLUMN "resource_version" INTEGER NOT NULL DEFAULT 1;

-- Triggers increase the versions, so that changes by an earlier release of the hub, by its commands and by SQL also do.
CREATE FUNCTION increase_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER organization_version BEFORE UPDATE ON "organizations" FOR EACH ROW
  WHEN ((NEW."name", NEW."slug", NEW."status") IS DISTINCT FROM (OLD."name", OLD."slug", OLD."status"))
  EXECUTE FUNCTION increase_version();

-- Sign-ins update the e-mail and the name of a user. They do not increase the version.
CREATE TRIGGER user_version BEFORE UPDATE ON "users" FOR EACH ROW
  WHEN ((NEW."role", NEW."org_id", NEW."org_role") IS DISTINCT FROM (OLD."role", OLD."org_id", OLD."org_role"))
  EXECUTE FUNCTION increase_version();

-- The use of a key does not increase its version. The expiry changes only when a key is created or reissued.
CREATE TRIGGER api_key_version BEFORE UPDATE ON "api_keys" FOR EACH ROW
  WHEN ((NEW."name", NEW."key_hash", NEW."revoked_at") IS DISTINCT FROM (OLD."name", OLD."key_hash", OLD."revoked_at"))
  EXECUTE FUNCTION increase_version();

-- Triggers run in the order of their names: category_stamp and template_stamp have already reset the columns that a
-- writer must not change.
CREATE TRIGGER category_version BEFORE UPDATE ON "categories" FOR EACH ROW
  WHEN (NEW.* IS DISTINCT FROM OLD.*)
  EXECUTE FUNCTION increase_version();

CREATE FUNCTION template_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.resource_version := OLD.resource_version + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER template_version BEFORE UPDATE ON "templates" FOR EACH ROW
  WHEN (NEW.* IS DISTINCT FROM OLD.*)
  EXECUTE FUNCTION template_version();

-- The tier of an organization is stored in its subscription.
CREATE FUNCTION subscription_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE organizations SET version = version + 1 WHERE id = NEW.org_id;
  RETURN NULL;
END $$;
CREATE TRIGGER subscription_version AFTER UPDATE ON "subscriptions" FOR EACH ROW
  WHEN (NEW."tier" IS DISTINCT FROM OLD."tier")
  EXECUTE FUNCTION subscription_version();
