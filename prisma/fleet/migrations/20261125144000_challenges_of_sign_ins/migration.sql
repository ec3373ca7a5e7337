-- The challenge of the page that began the sign-in, without whose verifier the code is of no use. Null: it began without one.
ALTER TABLE "sign_in_codes" ADD COLUMN "challenge" TEXT;
