-- CreateTable
CREATE TABLE "invitations" (
    "user_id" UUID NOT NULL,
    "code_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitations_code_hash_key" ON "invitations"("code_hash");

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A local user who has not accepted an invitation has no password.
ALTER TABLE "users" DROP CONSTRAINT "users_source_check";
ALTER TABLE "users" ADD CONSTRAINT "users_source_check" CHECK (CASE source
    WHEN 'local' THEN email IS NOT NULL AND role IS NOT NULL AND iss IS NULL AND removed_at IS NULL
    ELSE iss IS NOT NULL AND sub IS NOT NULL AND claims IS NOT NULL AND role IS NULL AND password_hash IS NULL
  END);
