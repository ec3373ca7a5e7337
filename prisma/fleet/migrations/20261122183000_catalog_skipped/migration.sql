-- AlterTable
ALTER TABLE "catalog_sync" ADD COLUMN     "cursor_reader" TEXT,
ADD COLUMN     "full_walk_due" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "catalog_skipped" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "entry_id" UUID,
    "slug" TEXT,
    "reason" TEXT NOT NULL,
    "cursor" TEXT,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "fetched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "catalog_skipped_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "catalog_skipped_kind_entry_id_key" ON "catalog_skipped"("kind", "entry_id");
