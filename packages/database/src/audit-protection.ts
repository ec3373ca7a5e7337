import type { HealthCheck } from '@svc/http';
import type { Query } from './migrations/state.ts';

/**
 * States whether the role of the service can change audit entries. It is information for operators,
 * and never a failure.
 */
export async function auditProtection(query: Query): Promise<HealthCheck> {
  // The column of this statement is the member of the type. The privileges include those of
  // superusers and of the owner's members.
  const [row] = (await query(`
    SELECT has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE') OR pg_has_role(c.relowner, 'MEMBER') AS changeable
    FROM pg_class c WHERE c.oid = 'audit_entries'::regclass`)) as { changeable: boolean }[];
  return {
    name: 'audit log',
    state: 'ok',
    detail: row?.changeable
      ? 'the database role of the service can change entries: a trigger protects them against mistakes only'
      : 'the database role of the service can add entries, and cannot change or delete them before the end of their retention',
  };
}
