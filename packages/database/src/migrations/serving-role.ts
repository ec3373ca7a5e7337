import pg from 'pg';

/** How the service uses the database, if another role owns it. */
export interface Serving {
  /** The URL with the role of the service. */
  readonly databaseUrl: string;
  /** Days for which audit entries are kept; unlimited if undefined. */
  readonly auditRetentionDays: number | undefined;
}

/** Tables to which a service only adds rows, if it has them. */
export const APPEND_ONLY = [
  'audit_entries',
  'template_revisions',
  'template_texts',
  'application_revisions',
  'application_texts',
];
/** The functions that delete rows of these tables. */
const DELETING = [
  'audit_forget(timestamptz, uuid)',
  'template_history_prune(timestamptz)',
  'application_history_prune(timestamptz)',
];
/** Tables that the service only reads. */
export const READ_ONLY = ['_prisma_migrations', 'schema_info'];

/**
 * Grants the role of the service what it needs in all tables: for the audit log and the history of the catalog only INSERT and SELECT,
 * and the functions that delete what is older than the retention. `client` is a connection of the owner. Nothing is granted if it has the same role.
 */
export async function grantServingRole(client: pg.Client, { databaseUrl, auditRetentionDays }: Serving): Promise<void> {
  const name = decodeURIComponent(new URL(databaseUrl).username);
  const { rows } = await client.query<{ role: string; owner: string; schema: string }>(
    'SELECT rolname AS role, current_user AS owner, current_schema() AS schema FROM pg_roles WHERE rolname = $1',
    [name],
  );
  const [found] = rows;
  if (!found) {
    throw new Error(
      `DATABASE_URL must name the role of the service, because MIGRATION_DATABASE_URL is set. The role ${JSON.stringify(name)} does not exist.`,
    );
  }
  if (found.role === found.owner) return;
  const role = pg.escapeIdentifier(found.role);
  const schema = pg.escapeIdentifier(found.schema);
  const {
    rows: [existing],
  } = await client.query<{ tables: string[]; functions: string[] }>(
    `SELECT ARRAY(SELECT name FROM unnest($1::text[]) name WHERE to_regclass(name) IS NOT NULL) AS tables,
            ARRAY(SELECT name FROM unnest($2::text[]) name WHERE to_regprocedure(name) IS NOT NULL) AS functions`,
    [APPEND_ONLY, DELETING],
  );
  const { tables = [], functions = [] } = existing ?? {};
  const days = auditRetentionDays === undefined ? 'NULL' : String(auditRetentionDays);
  // One simple query is one transaction, so the role of a running service never loses a privilege that it needs.
  await client.query(`
    GRANT USAGE ON SCHEMA ${schema} TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role};
    REVOKE INSERT, UPDATE, DELETE ON ${READ_ONLY.join(', ')} FROM ${role};
    REVOKE UPDATE, DELETE, TRUNCATE ON ${tables.join(', ')} FROM ${role};
    GRANT EXECUTE ON FUNCTION ${functions.join(', ')} TO ${role};
    UPDATE schema_info SET audit_retention_enforced = true, audit_retention_days = ${days}`);
}
