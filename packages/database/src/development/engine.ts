// Prisma's schema engine as WebAssembly: the same code as the native binary, without a download. It replaces setTimeout
// and keeps the process alive for 10 seconds, so it must run in its own process.
import fs from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';

type PgAdapter = Awaited<ReturnType<PrismaPg['connect']>>;
/** Private members of the adapter that `repair` needs. */
type AdapterInternals = {
  performIO(query: SqlQuery): Promise<pg.QueryArrayResult>;
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

class MigrationPg extends PrismaPg {
  override async connect(): Promise<PgAdapter> {
    return repair(await super.connect());
  }
  override async connectToShadowDb(): Promise<PgAdapter> {
    return repair(await super.connectToShadowDb());
  }
}

/** Fixes a defect of @prisma/adapter-pg 7.10 (prisma/orm#27403). */
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
  return adapter;
}
