-- The network of the caller who began a sign-in, so that unfinished sign-ins are bounded for each. Version 0.2.0 stores none.
ALTER TABLE "sign_in_transactions" ADD COLUMN "network" TEXT;
