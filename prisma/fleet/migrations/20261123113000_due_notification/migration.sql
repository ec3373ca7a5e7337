-- "due_at" is rounded to milliseconds, so that the current time is stored up to half a millisecond later. The conditions of these
-- triggers compared it with the exact time, and half of the deployments that became due did not notify the workers.
CREATE OR REPLACE TRIGGER deployment_due_inserted AFTER INSERT ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now() + interval '1 millisecond') EXECUTE FUNCTION deployment_due();
CREATE OR REPLACE TRIGGER deployment_due_updated AFTER UPDATE OF "due_at" ON "deployments" FOR EACH ROW
  WHEN (NEW."due_at" <= now() + interval '1 millisecond' AND NEW."due_at" IS DISTINCT FROM OLD."due_at") EXECUTE FUNCTION deployment_due();
