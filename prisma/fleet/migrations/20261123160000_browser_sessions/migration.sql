-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "browser_hash" TEXT,
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "source" TEXT,
ADD COLUMN     "user_agent" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "sessions_browser_hash_key" ON "sessions"("browser_hash");
