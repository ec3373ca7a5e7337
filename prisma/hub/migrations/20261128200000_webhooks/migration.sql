-- CreateTable
CREATE TABLE "encryption_canary" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,

    CONSTRAINT "encryption_canary_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "encryption_canary" ADD CONSTRAINT "encryption_canary_one_row" CHECK ("id" = 1);

-- CreateTable
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[] NOT NULL,
    "sealed" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "previous_until" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "failure" TEXT,
    "retry_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_by_user" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT transaction_timestamp(),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "seq" BIGSERIAL NOT NULL,
    "webhook_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "object_id" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "lease_owner" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "status" INTEGER,
    "failure" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "webhooks_name_key" ON "webhooks"("name");

-- CreateIndex
CREATE INDEX "webhooks_created_by_user_idx" ON "webhooks"("created_by_user");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_webhook_id_message_id_key" ON "webhook_deliveries"("webhook_id", "message_id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_seq_idx" ON "webhook_deliveries"("webhook_id", "seq" DESC);

-- What waits, in the order of its next attempts, and by object.
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" ("webhook_id", "next_at", "seq") WHERE "state" = 'pending';
CREATE INDEX "webhook_deliveries_object_idx" ON "webhook_deliveries" ("webhook_id", "object_id", "seq") WHERE "state" = 'pending';

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
