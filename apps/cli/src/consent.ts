import { Failure, UsageError } from './errors.ts';

/** The option with which a user confirms a change in advance. */
export interface ConsentOptions {
  readonly yes?: boolean | undefined;
}

/** Whether a person can be asked. */
const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Requires that a change can be confirmed, before anything is read. @throws UsageError */
export function requireConsent({ yes = false }: ConsentOptions): void {
  if (!yes && !isInteractive()) throw new UsageError('Without a terminal, a change needs --yes.');
}

/** Asks whether a change shall be made, unless it was confirmed in advance. @throws Failure if not */
export async function confirm(question: string, { yes = false }: ConsentOptions): Promise<void> {
  if (yes) return;
  const { confirm: ask, isCancel } = await import('@clack/prompts');
  const answer = await ask({ message: question, output: process.stderr });
  if (isCancel(answer) || !answer) throw new Failure('Nothing was changed.');
}
