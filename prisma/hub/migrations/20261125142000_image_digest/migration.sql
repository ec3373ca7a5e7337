ALTER TABLE "templates" ADD COLUMN "image_digest" TEXT;
