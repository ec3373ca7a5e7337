-- CreateTable
CREATE TABLE "icons" (
    "digest" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "data" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),

    CONSTRAINT "icons_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "template_icons" (
    "template_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "digest" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT transaction_timestamp(),

    CONSTRAINT "template_icons_pkey" PRIMARY KEY ("template_id")
);

-- CreateIndex
CREATE INDEX "template_icons_next_attempt_at_idx" ON "template_icons"("next_attempt_at");

-- CreateIndex
CREATE INDEX "template_icons_digest_idx" ON "template_icons"("digest");

-- AddForeignKey
ALTER TABLE "template_icons" ADD CONSTRAINT "template_icons_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "templates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "template_icons" ADD CONSTRAINT "template_icons_digest_fkey" FOREIGN KEY ("digest") REFERENCES "icons"("digest") ON DELETE RESTRICT ON UPDATE CASCADE;
