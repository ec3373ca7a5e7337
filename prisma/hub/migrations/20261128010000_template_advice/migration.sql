-- What a hub tells fleets about a template, beside its content. The status is checked text, because the previous release of the hub
-- cannot read an unknown value of an enum.
ALTER TABLE "templates" ADD COLUMN "advisories" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN "replacement" TEXT,
ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN "status" TEXT NOT NULL DEFAULT 'active',
ADD COLUMN "status_message" TEXT NOT NULL DEFAULT '',
ADD CONSTRAINT "templates_status_check" CHECK ("status" IN ('active', 'deprecated', 'blocked')),
ADD CONSTRAINT "templates_status_message_check" CHECK (char_length("status_message") <= 500),
ADD CONSTRAINT "templates_blocked_check" CHECK ("status" <> 'blocked' OR "status_message" <> '');
