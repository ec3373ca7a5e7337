-- CreateEnum
CREATE TYPE "ServiceType" AS ENUM ('ClusterIP', 'NodePort', 'LoadBalancer');

-- AlterTable
-- Existing ports, and those that a fleet of version 0.1.0 allocates, have no addresses: they bind to all interfaces.
ALTER TABLE "allocated_ports" ADD COLUMN     "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "clusters" ADD COLUMN     "public_service_type" "ServiceType" NOT NULL DEFAULT 'ClusterIP';

-- AlterTable
ALTER TABLE "hosts" ADD COLUMN     "addresses" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "verified_addresses" TEXT[] DEFAULT ARRAY[]::TEXT[];
