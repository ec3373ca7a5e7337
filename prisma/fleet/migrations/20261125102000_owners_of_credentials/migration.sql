-- A blocked user cannot sign in, and the identity provider cannot restore the user.
ALTER TABLE "users" ADD COLUMN "blocked_at" TIMESTAMPTZ(3);

-- The token with which a token was created. Both tokens have the same `created_by_user`.
ALTER TABLE "tokens" ADD COLUMN "created_by_token" UUID;
CREATE INDEX "tokens_created_by_token_idx" ON "tokens"("created_by_token");

-- Who created an invitation. An invitation without a creator is not valid.
ALTER TABLE "invitations" ADD COLUMN "created_by_user" UUID,
  ADD COLUMN "created_by_token" UUID,
  ADD COLUMN "by_temporary_admin" BOOLEAN NOT NULL DEFAULT false;
DELETE FROM "invitations";

-- Version 0.2.0 replaces the code of an invitation, and does not know its creator. Later versions insert another row.
CREATE FUNCTION forget_creator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.created_by_user := NULL;
  NEW.created_by_token := NULL;
  NEW.by_temporary_admin := false;
  RETURN NEW;
END $$;
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION forget_creator() SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$;
CREATE TRIGGER forget_creator BEFORE UPDATE OF "code_hash" ON "invitations" FOR EACH ROW EXECUTE FUNCTION forget_creator();

-- The new columns of lists are recorded as changes.
DO $$
DECLARE
  list record;
  columns text[];
BEGIN
  FOR list IN SELECT * FROM (VALUES
    ('users', 'record_change(''users'')', '{last_sign_in_at,password_hash}'::text[]),
    ('tokens', 'record_change(''tokens'')', '{last_used_at}')
  ) AS lists (name, function, ignored) LOOP
    columns := ARRAY(
      SELECT quote_ident(attname) FROM pg_attribute
      WHERE attrelid = format('%I', list.name)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL (list.ignored)
      ORDER BY attnum);
    EXECUTE format('DROP TRIGGER record_updates ON %I', list.name);
    EXECUTE format('CREATE CONSTRAINT TRIGGER record_updates AFTER UPDATE OF %s ON %I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN ((OLD.%s) IS DISTINCT FROM (NEW.%s)) EXECUTE FUNCTION %s', array_to_string(columns, ', '), list.name,
      array_to_string(columns, ', OLD.'), array_to_string(columns, ', NEW.'), list.function);
  END LOOP;
END $$;
