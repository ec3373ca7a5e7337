-- AlterTable
ALTER TABLE "volumes" ADD COLUMN     "touched" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "departed" (
    "id" UUID NOT NULL,
    "host_id" UUID,
    "cluster_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "departed_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "departed_host_id_idx" ON "departed"("host_id");

-- CreateIndex
CREATE INDEX "departed_cluster_id_idx" ON "departed"("cluster_id");

-- CreateIndex
CREATE INDEX "departed_at_idx" ON "departed"("at");

-- AddForeignKey
ALTER TABLE "departed" ADD CONSTRAINT "departed_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "departed" ADD CONSTRAINT "departed_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Whether an engine has one that was attached before is not known.
UPDATE "volumes" SET "touched" = true
WHERE "phase" <> 'pending' OR EXISTS (SELECT FROM "attachments" a WHERE a."volume_id" = "volumes"."id");
