// Prisma's schema engine as WebAssembly: the same code as the native binary, without a download. It replaces setTimeout
// and keeps the process alive for 10 seconds, so it must run in its own process.
import fs from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

type PgAdapter = Awaited<ReturnType<PrismaPg['connect']>>;
type DriverError = ConstructorParameters<typeof DriverAdapterError>[0];
/** Private members of the adapter that `repair` needs. */
type AdapterInternals = {
  performIO(query: SqlQuery): Promise<pg.QueryArrayResult>;
  onError(error: unknown): never;
};
type WasmExports = { __wbindgen_start(): void };
/** The used part of WebAssembly, which the types of Node do not contain. */
declare const WebAssembly: {
  instantiate(code: Uint8Array, imports: Record<string, unknown>): Promise<{ instance: { exports: WasmExports } }>;
};
/** Exports of the engine's glue code that its types do not contain. */
type EngineGlue = {
  __wbg_set_wasm(exports: WasmExports): void;
  SchemaEngine: { new: typeof SchemaEngine.new };
};

const charType = 18; // pg_catalog."char"
const textType = 25;

/** Loads the engine for a database and a schema. */
export async function createEngine(o: { schema: [string, string]; databaseUrl: string }): Promise<SchemaEngine> {
  const glue = engineModule as unknown as EngineGlue; // the types are those of another entry point of the package
  const file = new URL('./schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(file), {
    './schema_engine_bg.js': engineModule,
  });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  const factory = new MigrationPg({
    connectionString: o.databaseUrl,
    application_name: 'svc-migrate',
    connectionTimeoutMillis: 5000,
  });
  return glue.SchemaEngine.new({ datamodels: [o.schema] }, () => {}, bindMigrationAwareSqlAdapterFactory(factory));
}

const recordAsFinished = `
  DO $$ BEGIN
    IF to_regclass('_prisma_migrations') IS NOT NULL THEN
      UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL;
    END IF;
  END $$`;

class MigrationPg extends PrismaPg {
  override async connect(): Promise<PgAdapter> {
    return repair(await super.connect());
  }
  override async connectToShadowDb(): Promise<PgAdapter> {
    return repair(await super.connectToShadowDb());
  }
}

/** Fixes defects of @prisma/adapter-pg 7.10 that affect migrations (prisma/orm#27403). */
function repair(adapter: PgAdapter): PgAdapter {
  const internals = adapter as unknown as AdapterInternals; // private in the types, accessible at run time
  const performIO = internals.performIO.bind(adapter);
  const queryRaw = adapter.queryRaw.bind(adapter);
  const charColumns = new WeakMap<object, boolean[]>();
  // The adapter has no mapping for the type "char", which queries of the system catalog return.
  internals.performIO = async (query) => {
    const result = await performIO(query);
    const isChar = result.fields.map((field) => field.dataTypeID === charType);
    charColumns.set(result.rows, isChar);
    for (const field of result.fields) if (field.dataTypeID === charType) field.dataTypeID = textType;
    return result;
  };
  adapter.queryRaw = async (query): Promise<SqlResultSet> => {
    const result = await queryRaw(query);
    const isChar = charColumns.get(result.rows) ?? [];
    const columnTypes = result.columnTypes.map((type, i) => (isChar[i] ? ColumnTypeEnum.Character : type));
    return { ...result, columnTypes };
  };
  // The adapter splits scripts at every ";", also in $$ bodies $$, and can run the parts on different connections. A
  // simple query has one connection and one implicit transaction, which also records that the migration is finished. If
  // this process is killed, a migration that is not recorded as finished has made no change in the database.
  adapter.executeScript = async (script) => {
    await adapter
      .underlyingDriver()
      .query(`${script}\n;${recordAsFinished}`)
      .catch((error: unknown) => {
        if (error instanceof pg.DatabaseError) throw new DriverAdapterError(postgresError(error));
        return internals.onError(error);
      });
  };
  return adapter;
}

/** The original error of PostgreSQL. `code` is not set, because the engine would replace the message for known codes. */
function postgresError({ code, severity, message, detail, column, hint }: pg.DatabaseError): DriverError {
  const messageWithCode = `${message} (${code})`;
  return {
    kind: 'postgres',
    code: 'N/A',
    severity: severity ?? 'ERROR',
    message: messageWithCode,
    detail,
    column,
    hint,
  };
}
