-- The ports of a host that an admin opens, and those that a deployment requests by the ports of its container. Changes of both increase the
-- version of the row, so that they are recorded.
ALTER TABLE "hosts" ADD COLUMN "open_ports" TEXT[] DEFAULT ARRAY[]::TEXT[];

ALTER TABLE "deployments" ADD COLUMN "host_ports" JSONB NOT NULL DEFAULT '{}';

ALTER TABLE "deployment_revisions" ADD COLUMN "host_ports" JSONB NOT NULL DEFAULT '{}';
