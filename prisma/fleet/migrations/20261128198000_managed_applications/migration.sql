-- A deleted application is no longer managed.
CREATE TRIGGER set_object_forget AFTER DELETE ON "applications" FOR EACH ROW EXECUTE FUNCTION set_object_forget('application');
