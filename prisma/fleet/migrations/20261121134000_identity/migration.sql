-- CreateEnum
CREATE TYPE "UserSource" AS ENUM ('local', 'oidc');

-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "user_id" UUID;

-- AlterTable
ALTER TABLE "encryption_canary" ADD COLUMN     "sealed_with" TEXT;
-- The id of the key stands in the header of each sealed value (RFC 7516, base64url without padding).
UPDATE "encryption_canary" SET "sealed_with" = convert_from(decode(rpad(h, (length(h) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::json->>'kid'
  FROM (SELECT ctid AS row, translate("sealed"::json->>'protected', '-_', '+/') AS h FROM "encryption_canary") sealed
  WHERE "encryption_canary".ctid = sealed.row;
ALTER TABLE "encryption_canary" ALTER COLUMN "sealed_with" SET NOT NULL;

-- AlterTable
ALTER TABLE "sessions" DROP COLUMN "actor",
ADD COLUMN     "provider_at" TIMESTAMPTZ(3),
ADD COLUMN     "provider_token" TEXT,
ADD COLUMN     "sealed_with" TEXT,
ADD COLUMN     "user_id" UUID,
ALTER COLUMN "fingerprint" DROP NOT NULL;

-- AlterTable
ALTER TABLE "signing_keys" ADD COLUMN     "sealed_with" TEXT;
-- The id of the key stands in the header of each sealed value (RFC 7516, base64url without padding).
UPDATE "signing_keys" SET "sealed_with" = convert_from(decode(rpad(h, (length(h) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::json->>'kid'
  FROM (SELECT ctid AS row, translate("private_jwk"::json->>'protected', '-_', '+/') AS h FROM "signing_keys") sealed
  WHERE "signing_keys".ctid = sealed.row;
ALTER TABLE "signing_keys" ALTER COLUMN "sealed_with" SET NOT NULL;

-- AlterTable
ALTER TABLE "tokens" ADD COLUMN     "created_by_user" UUID;

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "source" "UserSource" NOT NULL,
    "email" TEXT,
    "name" TEXT NOT NULL DEFAULT '',
    "role" "Role",
    "password_hash" TEXT,
    "iss" TEXT,
    "sub" TEXT,
    "claims" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "last_sign_in_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_transactions" (
    "state_hash" TEXT NOT NULL,
    "browser_hash" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "sealed_with" TEXT NOT NULL,
    "return_to" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_transactions_pkey" PRIMARY KEY ("state_hash")
);

-- CreateTable
CREATE TABLE "sign_in_codes" (
    "code_hash" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_codes_pkey" PRIMARY KEY ("code_hash")
);

-- CreateTable
CREATE TABLE "settings" (
    "name" TEXT NOT NULL,
    "values" JSONB NOT NULL DEFAULT '{}',
    "sealed" TEXT,
    "sealed_with" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "settings_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at" DESC, "id");

-- CreateIndex
CREATE UNIQUE INDEX "users_iss_sub_key" ON "users"("iss", "sub");

-- CreateIndex
CREATE INDEX "sign_in_transactions_expires_at_idx" ON "sign_in_transactions"("expires_at");

-- CreateIndex
CREATE INDEX "sign_in_codes_session_id_idx" ON "sign_in_codes"("session_id");

-- CreateIndex
CREATE INDEX "sign_in_codes_expires_at_idx" ON "sign_in_codes"("expires_at");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_provider_at_idx" ON "sessions"("provider_at");

-- CreateIndex
CREATE INDEX "tokens_created_by_user_idx" ON "tokens"("created_by_user");

-- CreateIndex
CREATE INDEX "tokens_created_at_id_idx" ON "tokens"("created_at" DESC, "id");

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_codes" ADD CONSTRAINT "sign_in_codes_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A local user has an e-mail, a role and a password; one of a provider is known by it.
ALTER TABLE "users" ADD CONSTRAINT "users_source_check" CHECK (
  CASE source
    WHEN 'local' THEN email IS NOT NULL AND role IS NOT NULL AND password_hash IS NOT NULL AND iss IS NULL AND removed_at IS NULL
    ELSE iss IS NOT NULL AND sub IS NOT NULL AND claims IS NOT NULL AND role IS NULL AND password_hash IS NULL
  END);

-- A session is a user's, or the temporary admin's.
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_owner_check" CHECK (("user_id" IS NULL) = ("fingerprint" IS NOT NULL));

-- Entries are read, never changed; old ones go by one way only, which leaves an entry of its own.
CREATE OR REPLACE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('fleet.audit_retention', true) = pg_current_xact_id()::text THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'audit entries are never changed or deleted' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION audit_forget(before timestamptz, entry uuid) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
  gone integer;
BEGIN
  PERFORM set_config('fleet.audit_retention', pg_current_xact_id()::text, true);
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE at < before ORDER BY at LIMIT 10000);
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM set_config('fleet.audit_retention', '', true);
  IF gone > 0 THEN
    INSERT INTO audit_entries (id, actor, method, path, status, request_id)
      VALUES (entry, 'retention', 'DELETE', 'entries before ' || to_char(before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': ' || gone, 200, '');
  END IF;
  RETURN gone;
END $$;
-- Whoever else may connect to this database has no say in what is forgotten.
REVOKE ALL ON FUNCTION audit_forget(timestamptz, uuid) FROM PUBLIC;
