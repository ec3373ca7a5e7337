-- CreateTable
CREATE TABLE "access_revision" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "revision" UUID NOT NULL,

    CONSTRAINT "access_revision_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "access_revision" ADD CONSTRAINT "access_revision_id_check" CHECK ("id" = 1);
INSERT INTO "access_revision" ("revision") VALUES (gen_random_uuid());

-- Every transaction that changes who a credential belongs to, or what it permits, replaces the revision. A random value, unlike a
-- number, does not recur after the database is restored from a backup.
CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE access_revision SET revision = gen_random_uuid() WHERE xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END $$;

-- The triggers run at the commit, so that a transaction locks the revision last and for a short time. A new key, organization or
-- user changes nothing for existing credentials.
CREATE CONSTRAINT TRIGGER api_key_access AFTER UPDATE ON "api_keys" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."org_id", NEW."key_hash", NEW."expires_at", NEW."revoked_at")
    IS DISTINCT FROM (OLD."id", OLD."org_id", OLD."key_hash", OLD."expires_at", OLD."revoked_at"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER api_key_deleted AFTER DELETE ON "api_keys" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER organization_access AFTER UPDATE ON "organizations" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."name", NEW."slug", NEW."status") IS DISTINCT FROM (OLD."id", OLD."name", OLD."slug", OLD."status"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER subscription_access AFTER UPDATE ON "subscriptions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."org_id", NEW."tier") IS DISTINCT FROM (OLD."org_id", OLD."tier"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER subscription_deleted AFTER DELETE ON "subscriptions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER user_access AFTER UPDATE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."iss", NEW."sub", NEW."role", NEW."org_id", NEW."org_role")
    IS DISTINCT FROM (OLD."id", OLD."iss", OLD."sub", OLD."role", OLD."org_id", OLD."org_role"))
  EXECUTE FUNCTION access_changed();
CREATE CONSTRAINT TRIGGER user_deleted AFTER DELETE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION access_changed();
