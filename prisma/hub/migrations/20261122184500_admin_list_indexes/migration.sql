-- CreateIndex
CREATE INDEX "organizations_created_at_id_idx" ON "organizations"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "api_keys_created_at_id_idx" ON "api_keys"("created_at" DESC, "id");

-- CreateIndex
CREATE INDEX "catalog_access_created_at_id_idx" ON "catalog_access"("created_at" DESC, "id");
