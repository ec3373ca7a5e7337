import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { exchangeOf } from './exchange.ts';

/**
 * Asks the user to agree to a change of `subject`, if the client can ask. Resolves to whether the
 * user has agreed, or undefined if the client cannot ask: the tool must then be called again with
 * an argument that confirms it.
 * @throws ConfirmationRequired to ask, Declined if the user does not agree
 */
export type Confirm = (question: string, subject: object) => Promise<true | undefined>;

/** The call ends with a question, and the client repeats it with the answer. */
export class ConfirmationRequired extends Error {
  readonly result: InputRequiredResult;
  constructor(result: InputRequiredResult) {
    super('the user must be asked');
    this.result = result;
  }
}

/** The user does not agree. */
export class Declined extends Error {}

interface Sealed {
  /** The digest of what the user was asked about. */
  readonly subject: string;
}

/** Signs what a user was asked about, so that the answer applies to nothing else. */
export type Confirmations = RequestStateCodec<Sealed>;

/**
 * All replicas need the same key, because another one can receive the answer. An answer is valid
 * for five minutes.
 */
export const createConfirmations = (key: Uint8Array): Confirmations =>
  createRequestStateCodec<Sealed>({ key, ttlSeconds: 300, bind: ({ http }) => exchangeOf(http?.authInfo).caller.key });

const ANSWER = 'confirmation';

/**
 * Asks with the confirmations of revision 2026-07-28, whose clients declare in each request what
 * they can do.
 */
export const confirmWith =
  (confirmations: Confirmations, context: ServerContext, tool: string): Confirm =>
  async (question, subject) => {
    const { inputResponses, requestState: stateOf } = context.mcpReq;
    if (!canAsk(context)) return undefined;
    const digest = createHash('sha256')
      .update(JSON.stringify([tool, subject]))
      .digest('base64url');
    const answer = inputResponse(inputResponses, ANSWER);
    if (answer.kind === 'elicit' && stateOf<Sealed>()?.subject === digest) {
      if (answer.action === 'accept' && answer.content?.agree === true) return true;
      throw new Declined('The user declined, so nothing was changed. Do not repeat the call.');
    }
    const agree = { type: 'boolean', title: 'Yes', default: false } as const;
    const form = inputRequired.elicit({
      message: question,
      requestedSchema: { type: 'object', properties: { agree }, required: ['agree'] },
    });
    const requestState = await confirmations.mint({ subject: digest }, context);
    throw new ConfirmationRequired(inputRequired({ inputRequests: { [ANSWER]: form }, requestState }));
  };

function canAsk({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  // The SDK validated it.
  const { elicitation } = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
  // A client with elicitation in general supports forms, unless it declares only URLs.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
