-- CreateTable
CREATE TABLE "catalog_tags" (
    "tag" TEXT NOT NULL,
    "folded" TEXT NOT NULL,

    CONSTRAINT "catalog_tags_pkey" PRIMARY KEY ("tag")
);

-- CreateIndex
CREATE INDEX "catalog_tags_folded_idx" ON "catalog_tags"("folded");
