-- The challenge of the page that began the sign-in, without whose verifier the code is of no use. Null: it began without one.
ALTER TABLE "sign_in_codes" ADD COLUMN "challenge" TEXT;

-- The hash of the key with which the console opened the session; '': it has none. Null: version 0.2.0 opened the session.
ALTER TABLE "sessions" ADD COLUMN "key_hash" TEXT;
