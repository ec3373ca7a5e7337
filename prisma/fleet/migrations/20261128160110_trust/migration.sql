-- AlterTable
ALTER TABLE "catalog_templates" ADD COLUMN "signed" JSONB;

-- AlterTable
ALTER TABLE "workload_revisions" ADD COLUMN "trust" JSONB;

-- CreateTable
CREATE TABLE "trust_policy" (
    "id" INTEGER NOT NULL,
    "policy" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "trust_policy_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trust_publishers" (
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "root" JSONB NOT NULL,
    "images" TEXT[] NOT NULL,
    "slugs" TEXT[] NOT NULL,
    "secrets" TEXT[] NOT NULL,
    "keyring" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "extended_until" TIMESTAMPTZ(3),
    "extension_reason" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "trust_publishers_pkey" PRIMARY KEY ("slug")
);

-- CreateTable
CREATE TABLE "trust_memory" (
    "publisher" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "kid" TEXT NOT NULL,
    "serial" BIGINT NOT NULL,
    "content" TEXT NOT NULL,

    CONSTRAINT "trust_memory_pkey" PRIMARY KEY ("slug","publisher","kid")
);

-- CreateTable
CREATE TABLE "trust_slugs" (
    "slug" TEXT NOT NULL,
    "publisher" TEXT NOT NULL,

    CONSTRAINT "trust_slugs_pkey" PRIMARY KEY ("slug")
);

ALTER TABLE "trust_policy" ADD CONSTRAINT "trust_policy_single_check" CHECK ("id" = 1);
