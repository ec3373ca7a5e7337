-- The revision of the application of the catalog that was copied, and the advisories that were acknowledged for the copy. Null: not known.
ALTER TABLE "application_specs" ADD COLUMN "catalog_revision" INTEGER,
  ADD COLUMN "acknowledged" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

-- CreateTable
CREATE TABLE "catalog_application_changelogs" (
    "application_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "entries" JSONB NOT NULL,

    CONSTRAINT "catalog_application_changelogs_pkey" PRIMARY KEY ("application_id")
);

-- CreateTable
CREATE TABLE "catalog_application_advice" (
    "application_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "status_message" TEXT NOT NULL,
    "replacement" TEXT,
    "advisories" JSONB NOT NULL,
    "bytes" INTEGER NOT NULL,

    CONSTRAINT "catalog_application_advice_pkey" PRIMARY KEY ("application_id")
);

-- AddForeignKey
ALTER TABLE "catalog_application_changelogs" ADD CONSTRAINT "catalog_application_changelogs_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "catalog_applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "catalog_application_changelogs" ADD CONSTRAINT "catalog_application_changelogs_entries_check" CHECK (jsonb_typeof("entries") = 'array');
