import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export type MigrationFile = { name: string; sql: string };

/** The migrations in `<prismaDir>/migrations`, in the order in which they apply. */
export function readMigrations(prismaDir: string): MigrationFile[] {
  const dir = migrationsFolder(prismaDir);
  if (!fs.existsSync(dir)) return [];
  return fs
    .readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, sql: fs.readFileSync(path.join(dir, name, 'migration.sql'), 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function migrationsFolder(prismaDir: string): string {
  return path.join(prismaDir, 'migrations');
}

/** Prisma's checksum of a file. */
export const checksumOf = (sql: string) => createHash('sha256').update(sql).digest('hex');

/** Whether `checksum` is Prisma's checksum of the file, with Unix or Windows line endings. */
export function hasChecksum({ sql }: MigrationFile, checksum: string): boolean {
  const unix = sql.replaceAll('\r\n', '\n');
  return [sql, unix, unix.replaceAll('\n', '\r\n')].some((text) => checksumOf(text) === checksum);
}
