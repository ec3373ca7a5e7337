import type { Lab } from './lab.ts';
import type { Expected, Outcome } from './outcome.ts';

/** A situation of a cluster. */
export interface Situation {
  readonly name: string;
  /** What is done, in a few words. */
  readonly done: string;
  readonly shows: Expected;
  /** Performs it. */
  readonly run: (lab: Lab) => Promise<Outcome>;
}

/** An entry of the list of situations. */
export const situation = (name: string, done: string, shows: Expected, run: Situation['run']): Situation => ({
  name,
  done,
  shows,
  run,
});

const HEAD = ['situation', 'what is done', 'phase', 'reason', 'message and conditions', 'after the remedy'];

/** The outcomes as a table in Markdown. Ids and names of the test are replaced. */
export function markdownOf(rows: readonly { readonly situation: Situation; readonly outcome: Outcome }[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`;
  const body = rows.map(({ situation: { name, done }, outcome: { phase, reason, message, conditions, after } }) =>
    line([name, done, phase, reason ?? '', [message, ...conditions].filter(Boolean).join('; '), after ?? '']),
  );
  return [line(HEAD), line(HEAD.map(() => '---')), ...body, ''].join('\n');
}

const cellOf = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, ':id')
    .replaceAll(/fleet-test-[0-9a-f]{8}/g, '<namespace>')
    .replaceAll(/\bs\d+-[0-9a-f]{8}(?:-[0-9a-z]+)*/g, '<name>')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|');
