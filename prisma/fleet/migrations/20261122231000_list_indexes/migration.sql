-- Indexes for the filters and sort fields of lists whose length grows with the number of deployments.
-- Names are sorted byte by byte, in every locale.

-- CreateIndex
CREATE INDEX "deployments_phase_idx" ON "deployments"("phase");

-- CreateIndex
CREATE INDEX "deployments_updated_at_id_idx" ON "deployments"("updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "deployments_name_idx" ON "deployments"("name" COLLATE "C");

-- CreateIndex
CREATE INDEX "workloads_updated_at_id_idx" ON "workloads"("updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "workloads_name_idx" ON "workloads"("name" COLLATE "C");

-- CreateIndex
CREATE INDEX "workload_revisions_template_slug_idx" ON "workload_revisions"("template_slug");

-- CreateIndex
CREATE INDEX "workload_revisions_template_id_idx" ON "workload_revisions"("template_id");

-- CreateIndex
CREATE INDEX "volumes_updated_at_id_idx" ON "volumes"("updated_at" DESC, "id");

-- CreateIndex
CREATE INDEX "volumes_name_idx" ON "volumes"("name" COLLATE "C");
