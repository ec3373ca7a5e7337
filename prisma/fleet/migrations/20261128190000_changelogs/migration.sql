-- CreateTable
CREATE TABLE "catalog_changelogs" (
    "template_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "entries" JSONB NOT NULL,

    CONSTRAINT "catalog_changelogs_pkey" PRIMARY KEY ("template_id")
);

-- AddForeignKey
ALTER TABLE "catalog_changelogs" ADD CONSTRAINT "catalog_changelogs_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "catalog_templates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "catalog_changelogs" ADD CONSTRAINT "catalog_changelogs_entries_check" CHECK (jsonb_typeof("entries") = 'array');
