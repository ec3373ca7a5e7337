// The objects that the migrations create, to find changes of a database that were made outside the migrations.
import fs from 'node:fs';
import path from 'node:path';
import type { Query } from './state.ts';

/** The definitions of all objects of a schema, such as `{"column hosts.name": "text NOT NULL"}`. */
export type SchemaObjects = Readonly<Record<string, string>>;

/** The same for all supported versions of PostgreSQL. Functions are long, so they are compared by a hash. */
const OBJECTS = `
  WITH tables AS (
    SELECT oid, relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = pg_class.oid AND d.deptype = 'e')
  ), objects AS (
    SELECT 'column ' || t.relname || '.' || a.attname AS name, concat_ws(' ',
      format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation <> y.typcollation THEN 'COLLATE ' || (SELECT collname FROM pg_collation c WHERE c.oid = a.attcollation) END,
      CASE WHEN a.attnotnull THEN 'NOT NULL' END,
      CASE WHEN a.attidentity <> '' THEN 'IDENTITY' END,
      CASE WHEN a.attgenerated = '' THEN 'DEFAULT ' ELSE 'GENERATED ' END || pg_get_expr(e.adbin, e.adrelid)) AS definition
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid JOIN pg_type y ON y.oid = a.atttypid
      LEFT JOIN pg_attrdef e ON e.adrelid = t.oid AND e.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT 'constraint ' || t.relname || '.' || conname, pg_get_constraintdef(c.oid)
    FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid WHERE contype IN ('c', 'f', 'p', 'u', 'x')
    UNION ALL
    SELECT 'index ' || c.relname, pg_get_indexdef(c.oid)
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
    UNION ALL
    SELECT 'trigger ' || t.relname || '.' || g.tgname, pg_get_triggerdef(g.oid) || CASE WHEN g.tgenabled = 'D' THEN ' DISABLED' ELSE '' END
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal
    UNION ALL
    SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', md5(concat_ws(' ',
      pg_get_function_result(p.oid), p.prosrc, p.provolatile, p.prosecdef))
    FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    UNION ALL
    SELECT 'type ' || y.typname, string_agg(v.enumlabel, ', ' ORDER BY v.enumsortorder)
    FROM pg_type y JOIN pg_enum v ON v.enumtypid = y.oid WHERE y.typnamespace = current_schema()::regnamespace GROUP BY y.typname
    UNION ALL
    SELECT 'sequence ' || relname, '' FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S'
    UNION ALL
    SELECT 'view ' || relname, pg_get_viewdef(oid) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'm')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = pg_class.oid AND d.deptype = 'e')
  )
  SELECT name, replace(definition, quote_ident(current_schema()) || '.', '') AS definition FROM objects ORDER BY name COLLATE "C"`;

/** Reads the objects of the database, without the data. */
export async function readObjects(query: Query): Promise<SchemaObjects> {
  // The columns of the statement are the members of the type.
  const rows = (await query(OBJECTS)) as { name: string; definition: string }[];
  return Object.fromEntries(rows.map(({ name, definition }) => [name, definition]));
}

const objectsFile = (prismaDir: string) => path.join(prismaDir, 'objects.json');

/** Writes the objects of a database with all migrations to `<prismaDir>/objects.json`. */
export function writeExpectedObjects(prismaDir: string, objects: SchemaObjects): void {
  fs.writeFileSync(objectsFile(prismaDir), `${JSON.stringify(objects, null, 2)}\n`);
}

/** The objects that the migrations create. */
export function readExpectedObjects(prismaDir: string): SchemaObjects {
  return JSON.parse(fs.readFileSync(objectsFile(prismaDir), 'utf8'));
}

/** The objects that the database lacks, has in another form, or has beside those of the migrations, one text for each. */
export function differencesOf(expected: SchemaObjects, actual: SchemaObjects): string[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((name) => {
    const [before, now] = [expected[name], actual[name]];
    if (before === now) return [];
    if (now === undefined) return [`${name} is missing`];
    if (before === undefined) return [`${name} was added`];
    return [name.startsWith('function ') ? `${name} was changed` : `${name} is "${now}" instead of "${before}"`];
  });
}
