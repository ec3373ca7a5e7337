// Prisma's schema engine as WebAssembly: the same code as the native binary, nothing to download. It replaces
// setTimeout and holds the process for 10 seconds, so that it runs in a process of its own only.
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
/** What the adapter hides from its types, and its repair needs. */
type AdapterInternals = {
  performIO(query: SqlQuery): Promise<pg.QueryArrayResult>;
  onError(error: unknown): never;
};
type WasmExports = { __wbindgen_start(): void };
/** The part of WebAssembly that is used: Node has it, its types don't. */
declare const WebAssembly: {
  instantiate(code: Uint8Array, imports: Record<string, unknown>): Promise<{ instance: { exports: WasmExports } }>;
};
/** What the engine's glue code exports, and its types leave out. */
type EngineGlue = {
  __wbg_set_wasm(exports: WasmExports): void;
  SchemaEngine: { new: typeof SchemaEngine.new };
};

const charType = 18; // pg_catalog."char"
const textType = 25;

/** Loads the engine for that database and schema. */
export async function createEngine(o: { schema: [string, string]; databaseUrl: string }): Promise<SchemaEngine> {
  const glue = engineModule as unknown as EngineGlue; // its types describe the other entry of the package
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

/** Mends what migrations need and @prisma/adapter-pg 7.10 lacks (prisma/orm#27403). */
function repair(adapter: PgAdapter): PgAdapter {
  const internals = adapter as unknown as AdapterInternals; // private in the types, plain members at run time
  const performIO = internals.performIO.bind(adapter);
  const queryRaw = adapter.queryRaw.bind(adapter);
  const charColumns = new WeakMap<object, boolean[]>();
  // It has no mapping for the type "char", which queries of the catalog return.
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
  // It splits scripts at every ";", also inside $$ bodies $$, and may run each piece on another connection.
  // One simple query instead: one connection, one implicit transaction, which records its own end. Whatever kills this
  // process, a migration that is not recorded as finished has left nothing in the database.
  adapter.executeScript = async (script) => {
    await adapter
      .underlyingDriver()
      .query(`${script}\n;${recordAsFinished}`)
      .catch((error: unknown) => {
        if (error instanceof pg.DatabaseError) throw new DriverAdapterError(asToldByPostgres(error));
        return internals.onError(error);
      });
  };
  return adapter;
}

/** PostgreSQL's own words. Without its code, by which the engine would put a category in their place. */
function asToldByPostgres({ code, severity, message, detail, column, hint }: pg.DatabaseError): DriverError {
  const told = `${message} (${code})`;
  return { kind: 'postgres', code: 'N/A', severity: severity ?? 'ERROR', message: told, detail, column, hint };
}
