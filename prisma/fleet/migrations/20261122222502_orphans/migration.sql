-- CreateTable
CREATE TABLE "orphans" (
    "target_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "host_id" UUID,
    "cluster_id" UUID,
    "kind" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "orphans_pkey" PRIMARY KEY ("target_id","id")
);

-- CreateIndex
CREATE INDEX "orphans_host_id_idx" ON "orphans"("host_id");

-- CreateIndex
CREATE INDEX "orphans_cluster_id_idx" ON "orphans"("cluster_id");

-- AddForeignKey
ALTER TABLE "orphans" ADD CONSTRAINT "orphans_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "orphans" ADD CONSTRAINT "orphans_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "clusters"("id") ON DELETE CASCADE ON UPDATE CASCADE;
