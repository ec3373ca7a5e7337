-- AlterTable
ALTER TABLE "hosts" ADD COLUMN     "identity" TEXT;

-- AlterTable
ALTER TABLE "clusters" ADD COLUMN     "identity" TEXT;

-- AlterTable
ALTER TABLE "nodes" ADD COLUMN     "identity" TEXT;

-- CreateIndex
CREATE INDEX "hosts_identity_idx" ON "hosts"("identity");

-- CreateIndex
CREATE INDEX "clusters_identity_idx" ON "clusters"("identity");
