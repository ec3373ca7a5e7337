-- Containers that run stay on the default network of their engine: a deployment has addresses here from its next change that replaces its
-- instances. Version 0.2.0 reconciles no deployment with such addresses, because it has newer defaults.
ALTER TABLE "hosts" ADD COLUMN "refused_subnets" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "hosts" ADD COLUMN "default_network_ids" UUID[];

-- CreateTable
CREATE TABLE "networks" (
    "id" UUID NOT NULL,
    "host_id" UUID NOT NULL,
    "application_id" UUID,
    "subnet" INET NOT NULL,
    "isolation" TEXT,
    "losses" INTEGER NOT NULL DEFAULT 0,
    "former_names" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "networks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "network_addresses" (
    "network_id" UUID NOT NULL,
    "address" INET NOT NULL,
    "deployment_id" UUID NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "joined" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "network_addresses_pkey" PRIMARY KEY ("network_id","address")
);

-- CreateIndex
CREATE UNIQUE INDEX "networks_host_id_subnet_key" ON "networks"("host_id", "subnet");

-- CreateIndex
CREATE UNIQUE INDEX "network_addresses_network_id_deployment_id_ordinal_key" ON "network_addresses"("network_id", "deployment_id", "ordinal");

-- CreateIndex
CREATE INDEX "network_addresses_deployment_id_idx" ON "network_addresses"("deployment_id");

-- AddForeignKey
ALTER TABLE "networks" ADD CONSTRAINT "networks_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "network_addresses" ADD CONSTRAINT "network_addresses_network_id_fkey" FOREIGN KEY ("network_id") REFERENCES "networks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "network_addresses" ADD CONSTRAINT "network_addresses_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One network for each application on a host, and one for all deployments without an application.
CREATE UNIQUE INDEX "networks_owner_key" ON "networks" ("host_id", "application_id") NULLS NOT DISTINCT;

ALTER TABLE "networks"
  ADD CONSTRAINT "networks_subnet_check" CHECK (family("subnet") = 4 AND host("subnet") = host(network("subnet"))),
  ADD CONSTRAINT "networks_isolation_check" CHECK ("isolation" IN ('isolated', 'open'));
ALTER TABLE "network_addresses"
  ADD CONSTRAINT "network_addresses_address_check" CHECK (family("address") = 4 AND masklen("address") = 32),
  ADD CONSTRAINT "network_addresses_ordinal_check" CHECK ("ordinal" >= 0);
