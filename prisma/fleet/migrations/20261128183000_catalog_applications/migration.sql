-- CreateTable
CREATE TABLE "catalog_applications" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "category_id" UUID NOT NULL,
    "category_slug" TEXT NOT NULL,
    "is_featured" BOOLEAN NOT NULL,
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "search_text" TEXT NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "document" JSONB NOT NULL,
    "summary" JSONB NOT NULL,
    "document_bytes" INTEGER NOT NULL,
    "summary_bytes" INTEGER NOT NULL,

    CONSTRAINT "catalog_applications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "catalog_cursors" (
    "kind" TEXT NOT NULL,
    "supported" BOOLEAN NOT NULL DEFAULT true,
    "source" TEXT,
    "cursor" TEXT,
    "cursor_reader" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "generation" INTEGER NOT NULL DEFAULT 0,
    "in_full_walk" BOOLEAN NOT NULL DEFAULT false,
    "found_empty" BOOLEAN NOT NULL DEFAULT false,
    "skipped_total" INTEGER NOT NULL DEFAULT 0,
    "skipped" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "catalog_cursors_pkey" PRIMARY KEY ("kind")
);

-- CreateIndex
CREATE INDEX "catalog_applications_slug_idx" ON "catalog_applications"("slug");

-- CreateIndex
CREATE INDEX "catalog_applications_sort_name_id_idx" ON "catalog_applications"("sort_name", "id");

-- CreateIndex
CREATE INDEX "catalog_applications_category_id_idx" ON "catalog_applications"("category_id");

-- CreateIndex
CREATE INDEX "catalog_applications_category_slug_idx" ON "catalog_applications"("category_slug");

-- CreateIndex
CREATE INDEX "catalog_applications_generation_idx" ON "catalog_applications"("generation");

-- CreateIndex
CREATE INDEX "catalog_applications_tags_idx" ON "catalog_applications" USING GIN ("tags");

-- CreateIndex
CREATE INDEX "catalog_applications_search_text_idx" ON "catalog_applications" USING GIN ("search_text" gin_trgm_ops);

INSERT INTO "catalog_cursors" ("kind") VALUES ('application');
