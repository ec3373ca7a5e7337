-- The name of the object of a change.
ALTER TABLE "audit_entries" ADD COLUMN "object_name" TEXT;

-- The list of changes and sign-ins, without the reads of agents.
CREATE INDEX "audit_entries_changes_idx" ON "audit_entries" ("at" DESC, "id" DESC)
WHERE ("method" NOT IN ('GET', 'HEAD', 'OPTIONS') OR "path" = '/api/v1/auth/oidc/callback')
  AND "path" NOT IN ('/mcp', '/api/v1/deployments/plan');
