-- The challenge of the page that began the sign-in. A session with a challenge is of no use until this page states the verifier.
ALTER TABLE "sign_in_transactions" ADD COLUMN "challenge" TEXT;
ALTER TABLE "sessions" ADD COLUMN "challenge" TEXT;

-- The hash of the key with which the console opened the session; '': it has none. Null: version 0.2.0 opened the session.
ALTER TABLE "sessions" ADD COLUMN "key_hash" TEXT;
