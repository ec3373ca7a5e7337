-- AlterTable
ALTER TABLE "sign_in_failures" ADD COLUMN     "forgiven_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "sign_in_networks" (
    "subject" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_networks_pkey" PRIMARY KEY ("subject")
);

-- CreateIndex
CREATE INDEX "sign_in_networks_account_last_at_idx" ON "sign_in_networks"("account", "last_at");

-- CreateIndex
CREATE INDEX "sign_in_networks_last_at_idx" ON "sign_in_networks"("last_at");
