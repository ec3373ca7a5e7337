-- The copies of a template that differ from it are those with a smaller and with a larger hash.
DROP INDEX "workload_revisions_template_id_idx";
CREATE INDEX "workload_revisions_template_id_template_hash_idx" ON "workload_revisions"("template_id", "template_hash");
