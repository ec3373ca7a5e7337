-- Version 0.2.0 does not record which values it generated: null.
ALTER TABLE "sealed_values" ADD COLUMN "revealable" BOOLEAN;
