-- A blocked user can neither sign in nor use a token.
ALTER TABLE "users" ADD COLUMN "blocked_at" TIMESTAMPTZ(3);
DROP TRIGGER user_version ON "users";
CREATE TRIGGER user_version BEFORE UPDATE ON "users" FOR EACH ROW
  WHEN ((NEW."role", NEW."org_id", NEW."org_role", NEW."blocked_at")
    IS DISTINCT FROM (OLD."role", OLD."org_id", OLD."org_role", OLD."blocked_at"))
  EXECUTE FUNCTION increase_version();
DROP TRIGGER user_access ON "users";
CREATE CONSTRAINT TRIGGER user_access AFTER UPDATE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((NEW."id", NEW."iss", NEW."sub", NEW."role", NEW."org_id", NEW."org_role", NEW."blocked_at")
    IS DISTINCT FROM (OLD."id", OLD."iss", OLD."sub", OLD."role", OLD."org_id", OLD."org_role", OLD."blocked_at"))
  EXECUTE FUNCTION access_changed();

-- The user who created a key, while this user is an org_admin; null: the organization owns it. Keys from before this migration belong to
-- their organizations.
ALTER TABLE "api_keys" ADD COLUMN "owner_id" UUID;
CREATE INDEX "api_keys_owner_id_idx" ON "api_keys"("owner_id");

-- The user who created an invitation. An invitation without one is not valid.
ALTER TABLE "invitations" ADD COLUMN "created_by_user" UUID;
CREATE INDEX "invitations_created_by_user_idx" ON "invitations"("created_by_user");
DELETE FROM "invitations";

-- The user who created an organization. It bounds how many a user creates.
ALTER TABLE "organizations" ADD COLUMN "created_by_user" UUID;
CREATE INDEX "organizations_created_by_user_created_at_idx" ON "organizations"("created_by_user", "created_at");

-- The organization that a change concerns, for the log of its org_admins.
ALTER TABLE "audit_entries" ADD COLUMN "org_id" UUID;
CREATE INDEX "audit_entries_org_id_at_id_idx" ON "audit_entries"("org_id", "at" DESC, "id" DESC);
