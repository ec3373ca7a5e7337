import type { Tool } from '@svc/contract';
import type { z } from 'zod';
import type { Confirm } from './confirmation.ts';
import type { Ask } from './operations.ts';

/** Reports the progress of a call. `done` and `total` have the same unit. */
export type ReportProgress = (done: number, total: number, message: string) => Promise<void>;

/** What a tool has besides its arguments. */
export interface ToolContext {
  readonly ask: Ask;
  /** Aborts when the client disconnects or the process stops. */
  readonly signal: AbortSignal;
  /** undefined: the client did not ask for progress. */
  readonly progress: ReportProgress | undefined;
  readonly confirm: Confirm;
}

/** What a tool returns: the input of its result, or text if it has none. */
type ReturnOf<T extends Tool> =
  unknown extends z.input<NonNullable<T['result']>> ? string : z.input<NonNullable<T['result']>>;

/** A handler for each tool. The schema of the result removes members that are not part of it. */
export type ToolHandlers<Tools extends Readonly<Record<string, Tool>>> = {
  readonly [K in keyof Tools]: (
    given: z.output<Tools[K]['arguments']>,
    context: ToolContext,
  ) => Promise<ReturnOf<Tools[K]>>;
};
