-- AlterTable
ALTER TABLE "template_downloads" ADD COLUMN "counted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp();

-- CreateIndex
CREATE INDEX "template_downloads_counted_at_idx" ON "template_downloads"("counted_at");

-- CreateIndex
CREATE INDEX "catalog_access_periods_valid_from_idx" ON "catalog_access_periods"("valid_from");

-- Each replica reads the counts that others stored recently. A trigger sets the time, so that counts by an earlier release also have it.
CREATE FUNCTION template_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.counted_at := clock_timestamp();
  RETURN NEW;
END $$;
CREATE TRIGGER template_counted BEFORE INSERT OR UPDATE ON "template_downloads"
  FOR EACH ROW EXECUTE FUNCTION template_counted();
