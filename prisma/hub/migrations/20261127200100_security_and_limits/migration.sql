ALTER TABLE "templates" ADD COLUMN "cpu_limit" TEXT NOT NULL DEFAULT '',
ADD COLUMN "memory_limit" TEXT NOT NULL DEFAULT '',
ADD COLUMN "restart_unhealthy" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "run_as" TEXT,
ADD COLUMN "security_profile" TEXT NOT NULL DEFAULT 'baseline',
ADD COLUMN "service_account_token" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "start_period_seconds" INTEGER NOT NULL DEFAULT 0;
