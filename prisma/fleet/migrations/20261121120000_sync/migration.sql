-- Trusted extension: the owner of a database may create it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- AlterTable
ALTER TABLE "catalog_templates" ADD COLUMN "category_id" UUID,
ADD COLUMN "generation" INTEGER NOT NULL DEFAULT 0;
UPDATE "catalog_templates" SET "category_id" = ("document"->>'category_id')::uuid;
ALTER TABLE "catalog_templates" ALTER COLUMN "category_id" SET NOT NULL;

-- CreateTable
CREATE TABLE "catalog_categories" (
    "id" UUID NOT NULL,
    "sort_order" INTEGER NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "document" JSONB NOT NULL,

    CONSTRAINT "catalog_categories_pkey" PRIMARY KEY ("id")
);

-- AlterTable
ALTER TABLE "catalog_sync" ADD COLUMN "cursor" TEXT,
ADD COLUMN "generation" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "in_full_walk" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "found_empty" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "organization" JSONB,
ADD COLUMN "failure_kind" TEXT,
ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "next_at" TIMESTAMPTZ(3),
ADD COLUMN "lease_owner" UUID,
ADD COLUMN "lease_until" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "catalog_templates_category_id_idx" ON "catalog_templates"("category_id");

-- CreateIndex
CREATE INDEX "catalog_templates_generation_idx" ON "catalog_templates"("generation");

-- No list of pending entries: after a full walk a search would read that list, or the whole table.
CREATE INDEX "catalog_templates_search_text_idx" ON "catalog_templates" USING GIN ("search_text" gin_trgm_ops) WITH (fastupdate = off);
