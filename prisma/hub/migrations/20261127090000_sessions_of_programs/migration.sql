-- A session of a program, which sends a token instead of a cookie. `browser_hash` is then the hash of the token.
ALTER TABLE "sessions" ADD COLUMN "has_token" BOOLEAN NOT NULL DEFAULT false;
