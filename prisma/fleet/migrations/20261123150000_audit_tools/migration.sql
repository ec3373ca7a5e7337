-- The tool of a request to the MCP endpoint, and whether an entry is of an operation that such a request performed.
ALTER TABLE "audit_entries" ADD COLUMN "tool" TEXT,
ADD COLUMN "part" BOOLEAN NOT NULL DEFAULT false;
