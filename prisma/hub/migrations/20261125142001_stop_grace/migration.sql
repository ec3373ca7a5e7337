ALTER TABLE "templates" ADD COLUMN "stop_grace_seconds" INTEGER NOT NULL DEFAULT 30;
