-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "token_id" UUID;

-- CreateTable
CREATE TABLE "service_tokens" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "token_prefix" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "owner_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service_token_categories" (
    "token_id" UUID NOT NULL,
    "category_id" UUID NOT NULL,

    CONSTRAINT "service_token_categories_pkey" PRIMARY KEY ("token_id","category_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "service_tokens_token_hash_key" ON "service_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "service_tokens_owner_id_idx" ON "service_tokens"("owner_id");

-- CreateIndex
CREATE INDEX "service_tokens_created_at_id_idx" ON "service_tokens"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "service_token_categories_category_id_idx" ON "service_token_categories"("category_id");

-- CreateIndex
CREATE INDEX "audit_entries_token_id_at_idx" ON "audit_entries"("token_id", "at" DESC);

-- AddForeignKey
ALTER TABLE "service_tokens" ADD CONSTRAINT "service_tokens_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token_categories" ADD CONSTRAINT "service_token_categories_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "service_tokens"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token_categories" ADD CONSTRAINT "service_token_categories_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "categories"("id") ON DELETE CASCADE ON UPDATE CASCADE;
