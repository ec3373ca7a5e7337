-- AlterTable
ALTER TABLE "tokens" ADD COLUMN     "approval" TEXT NOT NULL DEFAULT 'none';

-- AlterTable
ALTER TABLE "plans" ADD COLUMN     "needs_approval" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "review" JSONB;

ALTER TABLE "tokens" ADD CONSTRAINT "tokens_approval_check" CHECK ("approval" IN ('none', 'deletions', 'all'));

ALTER TABLE "plans"
  DROP CONSTRAINT "plans_state_check",
  ADD CONSTRAINT "plans_state_check" CHECK ("state" IN ('ready', 'refused', 'unchanged', 'applied', 'rejected', 'outdated')),
  ADD CONSTRAINT "plans_rejected_check" CHECK ("state" <> 'rejected' OR "review"->>'decision' = 'rejected');

-- What was decided does not change. An application and a rejection are final, and a plan is reviewed once.
CREATE OR REPLACE FUNCTION plan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  free text[] := '{state,applied_at,applied_by,review}';
BEGIN
  IF OLD.state IN ('applied', 'rejected') OR to_jsonb(OLD) - free <> to_jsonb(NEW) - free
    OR (OLD.review IS NOT NULL AND OLD.review IS DISTINCT FROM NEW.review) THEN
    RAISE EXCEPTION 'plan % cannot be changed', OLD.id;
  END IF;
  RETURN NEW;
END $$;
