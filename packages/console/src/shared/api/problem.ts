import type { ProblemDocument } from '@svc/contract';
import { declaredText, t } from '../texts/texts.ts';
import { Refused, Unreachable } from './client.ts';
import { codesWithDetail, fieldSentences, nextSteps, problemSentences } from './problem-words.ts';

export interface FieldMessage {
  readonly path: string;
  readonly message: string;
}

/** The invalid members that a problem document lists, with what is wrong in words for a form. */
export const fieldErrorsOf = (error: unknown): readonly FieldMessage[] =>
  error instanceof Refused ? (error.problem?.errors ?? []).map(inWordsOfForms) : [];

function inWordsOfForms({ path, message, code }: NonNullable<ProblemDocument['errors']>[number]): FieldMessage {
  return { path, message: code === undefined ? message : (fieldSentences[code] ?? message) };
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Refused ? error.problem?.code : undefined;

/**
 * Whether a view cannot be shown: nothing was read yet, or the object no longer exists. Otherwise
 * the view keeps what is known while reading it again fails.
 */
export const isUnavailable = ({ data, error }: { readonly data: unknown; readonly error: unknown }): boolean =>
  error !== null && (data === undefined || codeOf(error) === 'not_found');

export interface ProblemWords {
  readonly title: string;
  /** What is wrong, in words of the console. */
  readonly sentence: string;
  /** What the service adds: names of objects, or a cause. */
  readonly detail?: string;
  readonly nextStep: string | undefined;
  readonly requestId: string | undefined;
}

/**
 * A problem as text: what is wrong, what to do, and the id with which it can be found in the log.
 */
export function wordsOf(error: unknown): ProblemWords {
  if (error instanceof Unreachable) {
    return { title: t('No response'), sentence: error.message, nextStep: t('Try again.'), requestId: undefined };
  }
  if (error instanceof Refused) {
    const { problem, status } = error;
    if (!problem) {
      const title = t('Status {status}', { status });
      return { title, sentence: error.message, nextStep: undefined, requestId: undefined };
    }
    return {
      title: declaredText(problem.title),
      // A service can be newer than the console that a browser has loaded.
      sentence: problemSentences[problem.code] ?? problem.detail,
      ...(codesWithDetail.has(problem.code) && { detail: problem.detail }),
      nextStep: nextSteps[problem.code],
      requestId: problem.request_id,
    };
  }
  return {
    title: t('This page failed'),
    sentence: error instanceof Error ? error.message : String(error),
    nextStep: t('Reload the page.'),
    requestId: undefined,
  };
}
