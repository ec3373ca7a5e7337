-- The order in which entries are recorded. Existing entries have 0: they come first, in the order of their times. PostgreSQL keeps this
-- default for them without writing the table again.
ALTER TABLE "audit_entries" ADD COLUMN "seq" BIGINT NOT NULL DEFAULT 0;
CREATE SEQUENCE "audit_entries_seq_seq" OWNED BY "audit_entries"."seq";
ALTER TABLE "audit_entries" ALTER COLUMN "seq" SET DEFAULT nextval('audit_entries_seq_seq');
CREATE UNIQUE INDEX "audit_entries_seq_key" ON "audit_entries" ("seq") WHERE "seq" > 0;

-- CreateTable
CREATE TABLE "deliveries" (
    "name" TEXT NOT NULL,
    "position" TEXT NOT NULL,
    "failure" TEXT,
    "failing_since" TIMESTAMPTZ(3),
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("name")
);
