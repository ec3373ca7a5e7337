-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "deleting" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
ADD COLUMN     "failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "lease_owner" UUID,
ADD COLUMN     "lease_until" TIMESTAMPTZ(3),
ADD COLUMN     "touched" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "hosts" ADD COLUMN     "check_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
ADD COLUMN     "check_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "message" TEXT NOT NULL DEFAULT '';

-- CreateTable
CREATE TABLE "allocated_ports" (
    "host_id" UUID NOT NULL,
    "protocol" TEXT NOT NULL,
    "host_port" INTEGER NOT NULL,
    "deployment_id" UUID NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "container_port" INTEGER NOT NULL,

    CONSTRAINT "allocated_ports_pkey" PRIMARY KEY ("host_id","protocol","host_port")
);

-- CreateIndex
CREATE INDEX "allocated_ports_deployment_id_idx" ON "allocated_ports"("deployment_id");

-- CreateIndex
CREATE INDEX "deployments_due_at_idx" ON "deployments"("due_at");

-- AddForeignKey
ALTER TABLE "allocated_ports" ADD CONSTRAINT "allocated_ports_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocated_ports" ADD CONSTRAINT "allocated_ports_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;
