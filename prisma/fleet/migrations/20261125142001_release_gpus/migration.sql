-- A deployment that could not start with its GPUs keeps none. The next change allocates GPUs again.
DELETE FROM "allocated_gpus" g USING "deployments" d
WHERE d."id" = g."deployment_id" AND d."phase" = 'failed' AND d."reason" = 'GpuMissing' AND d."observed_generation" = d."generation";
UPDATE "deployments" SET "gpu_count" = 0
WHERE "phase" = 'failed' AND "reason" = 'GpuMissing' AND "observed_generation" = "generation" AND "host_id" IS NOT NULL;
