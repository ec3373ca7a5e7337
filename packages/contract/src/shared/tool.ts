import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { ignoredMember, type Schema } from './openapi-schema.ts';

/**
 * What a client can tell its user about a tool before it calls it (Model Context Protocol,
 * `ToolAnnotations`).
 */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

type Shape = Readonly<Record<string, z.ZodType>>;

interface Declared<Own extends Shape, Result extends z.ZodType> {
  readonly title: string;
  readonly description: string;
  /**
   * The endpoints that the tool can call. Callers who are not admitted to the first one cannot use
   * the tool.
   */
  readonly calls: readonly [Endpoint, ...Endpoint[]];
  /** The operation that a call performs, if that depends on its arguments. */
  readonly operationOf?: OperationOf;
  /** The endpoint whose parameters and members are arguments of the tool. */
  readonly takes?: Endpoint;
  /** Those of them that are not arguments. */
  readonly except?: readonly string[];
  /** Further arguments. They replace those of `takes` with the same name. */
  readonly own?: Own;
  /** A tool that describes the same members. The schema repeats neither the words nor the members of objects. */
  readonly describedBy?: Pick<Tool, 'inputSchema'>;
  /** The structured result; undefined for a tool that returns only text. */
  readonly result?: Result;
  /** Hints that do not follow from the endpoints. */
  readonly hints?: Partial<ToolHints>;
}

type OperationOf = (given: Readonly<Record<string, unknown>>) => Endpoint | undefined;

/** A tool of the Model Context Protocol, over one endpoint of a service or several. */
export interface Tool<Own extends Shape = Shape, Result extends z.ZodType = z.ZodType> {
  readonly title: string;
  readonly description: string;
  readonly calls: readonly [Endpoint, ...Endpoint[]];
  /**
   * The operation that a call performs, by its arguments before their validation; by default the
   * first of `calls`. A refused call is recorded as this operation.
   */
  readonly operationOf: OperationOf | undefined;
  /**
   * Validates the arguments of the tool itself. Those of an endpoint are only named here: the
   * endpoint validates them.
   */
  readonly arguments: z.ZodType<Arguments<Own>>;
  readonly inputSchema: Schema;
  readonly result: Result | undefined;
  readonly outputSchema: Schema | undefined;
  readonly hints: ToolHints;
}

/** The arguments of a call. Those of an endpoint are passed on to it as they are. */
export type Arguments<Own extends Shape> = z.output<z.ZodObject<Own>> & Readonly<Record<string, unknown>>;

/** Declares a tool. Its arguments, results and hints derive from the endpoints that it calls. */
export function tool<Own extends Shape, Result extends z.ZodType>(declared: Declared<Own, Result>): Tool<Own, Result> {
  const { title, description, calls, operationOf, result, hints } = declared;
  // Without own arguments, the type parameter is inferred as an empty shape.
  const own = (declared.own ?? {}) as Own;
  const taken = takenMembers(declared);
  const required = Object.keys(taken).filter((name) => isRequired(taken[name]));
  const named = Object.fromEntries(
    Object.keys(taken).map((name) => [name, required.includes(name) ? given : z.unknown().optional()]),
  );
  let [inputSchema, outputSchema]: (Schema | undefined)[] = [];
  return {
    title,
    description,
    calls,
    operationOf,
    // The endpoint validates the other members, so that their types are those of a request.
    arguments: z.strictObject({ ...named, ...own }) as unknown as z.ZodType<Arguments<Own>>,
    // Derived when a client first lists the tools. Those of all tools take 50 ms, which would delay each start.
    get inputSchema() {
      inputSchema ??= jsonSchemaOf(z.strictObject({ ...taken, ...own }), 'input', {
        bounded: Object.keys(own),
        describedBy: declared.describedBy?.inputSchema,
      });
      return inputSchema;
    },
    result,
    get outputSchema() {
      outputSchema ??= result && jsonSchemaOf(result, 'output');
      return outputSchema;
    },
    hints: { ...hintsOf(calls), ...hints },
  };
}

const given = z.unknown().refine((value) => value !== undefined, 'is required');

const isRequired = (schema: z.ZodType | undefined) => schema?.safeParse(undefined).success === false;

/** The parameters and members of an endpoint that are arguments: without those that it ignores. */
function takenMembers({ takes, except = [], own = {} }: Declared<Shape, z.ZodType>): Record<string, z.ZodType> {
  const parts = takes ? [takes.params, takes.query, ...(takes.bodyLimit > 0 ? [takes.body] : [])] : [];
  const members = parts.flatMap((part) => Object.entries(shapeOf(part)));
  return Object.fromEntries(
    members.filter(([name, member]) => member !== ignoredMember && !except.includes(name) && !(name in own)),
  );
}

const shapeOf = (schema: z.ZodType): Shape => (schema instanceof z.ZodObject ? schema.shape : {});

/** The arguments that an endpoint takes, each in its part of a request. Others are left out. */
export function partsOf(endpoint: Endpoint, given: Readonly<Record<string, unknown>>) {
  const partOf = (schema: z.ZodType) => {
    const shape = shapeOf(schema);
    return Object.fromEntries(Object.entries(given).filter(([name]) => name in shape));
  };
  return { params: partOf(endpoint.params), query: partOf(endpoint.query), body: partOf(endpoint.body) };
}

/**
 * What follows from the endpoints of a tool: reading changes nothing, deleting and replacing can
 * destroy, and a method that is idempotent (RFC 9110, section 9.2.2) can be repeated.
 */
function hintsOf(calls: readonly Endpoint[]): ToolHints {
  const readOnlyHint = calls.every(({ method, access }) => method === 'get' || access.endsWith('-read'));
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && calls.some(({ method }) => method === 'delete' || method === 'put'),
    idempotentHint: readOnlyHint || calls.every(({ method }) => method !== 'post'),
    openWorldHint: false,
  };
}
