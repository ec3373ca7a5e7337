-- Version 0.2.0 does not know these columns. It reconciles no deployment with a requested digest, because such a deployment has newer
-- defaults.
ALTER TABLE "deployments" ADD COLUMN "requested_digest" TEXT;
ALTER TABLE "deployment_revisions" ADD COLUMN "requested_digest" TEXT;
ALTER TABLE "deployments"
  ADD CONSTRAINT "deployments_requested_digest_check" CHECK ("requested_digest" ~ '^sha256:[0-9a-f]{64}$');

-- CreateTable
CREATE TABLE "image_checks" (
    "host_id" UUID NOT NULL,
    "registry_url" TEXT NOT NULL,
    "image_name" TEXT NOT NULL,
    "image_tag" TEXT NOT NULL,
    "digest" TEXT,
    "image_id" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "error" TEXT,
    "requested" BOOLEAN NOT NULL DEFAULT false,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "image_checks_pkey" PRIMARY KEY ("host_id","registry_url","image_name","image_tag")
);

-- CreateIndex
CREATE INDEX "image_checks_due_at_idx" ON "image_checks"("due_at");

-- AddForeignKey
ALTER TABLE "image_checks" ADD CONSTRAINT "image_checks_host_id_fkey" FOREIGN KEY ("host_id") REFERENCES "hosts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "image_checks"
  ADD CONSTRAINT "image_checks_digest_check" CHECK ("digest" ~ '^sha256:[0-9a-f]{64}$'),
  ADD CONSTRAINT "image_checks_checked_check" CHECK (("digest" IS NULL) = ("checked_at" IS NULL)),
  ADD CONSTRAINT "image_checks_lease_check" CHECK (("lease_owner" IS NULL) = ("lease_until" IS NULL));

-- The deployments that are updated automatically now also have other policies.
DROP INDEX "deployments_automatic_idx";
CREATE INDEX "deployments_automatic_idx" ON "deployments" ("id") WHERE "updates"->>'from' IN ('template', 'image', 'all');
