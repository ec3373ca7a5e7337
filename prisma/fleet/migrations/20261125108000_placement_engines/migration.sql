-- Placement considers the engine of a host and its version.
CREATE TRIGGER placement_engine_updated AFTER UPDATE ON "hosts" FOR EACH ROW
  WHEN ((OLD.engine, OLD.engine_version) IS DISTINCT FROM (NEW.engine, NEW.engine_version))
  EXECUTE FUNCTION placement_target_changed();
