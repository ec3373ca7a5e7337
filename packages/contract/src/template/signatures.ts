import { z } from 'zod';

/** The longest signature of a template or an application, and the most of them. */
const MAX_SIGNATURE = 16 * 1024;
const MAX_SIGNATURES = 8;

const description =
  'Statements of publishers about the content, as compact JWS. The hub stores them and does not verify who made them';

/** The signatures in responses. A hub of an earlier version does not send them. */
export const signaturesReply = z
  .array(z.string())
  .prefault([])
  .meta({ description, examples: [[]] });

/** The signatures that a request states. */
export const newSignatures = z
  .array(
    z
      .string()
      .max(MAX_SIGNATURE, `must have at most ${MAX_SIGNATURE} characters`)
      .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a compact JWS, as the command sign writes it'),
  )
  .max(MAX_SIGNATURES, `must have at most ${MAX_SIGNATURES} entries`)
  .meta({ description, examples: [[]] });
