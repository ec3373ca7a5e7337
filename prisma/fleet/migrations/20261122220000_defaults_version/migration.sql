-- Existing deployments, and those that a fleet of version 0.1.0 creates, have the defaults of that version.
ALTER TABLE "deployments" ADD COLUMN "defaults_version" INTEGER NOT NULL DEFAULT 1;
