-- The challenge of the page that began the sign-in. A session with a challenge is of no use until this page states the verifier.
ALTER TABLE "sign_in_transactions" ADD COLUMN "challenge" TEXT;
ALTER TABLE "sessions" ADD COLUMN "challenge" TEXT;
