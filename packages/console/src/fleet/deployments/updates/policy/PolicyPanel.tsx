import type { ReactNode } from 'react';
import { t } from '../../../../shared/texts/texts.ts';
import { type Fact, Facts } from '../../../../shared/ui/display/Facts.tsx';
import { formatCount } from '../../../../shared/ui/display/format.ts';
import { Notice } from '../../../../shared/ui/feedback/states.tsx';
import { Panel } from '../../../../shared/ui/shell/PageHeader.tsx';
import type { AnyPolicy } from './policy-draft.ts';
import { automaticRisks, beginWords, failureWords, orderWords, windowWords } from './policy-words.ts';

/** How updates of a deployment or an application begin, and how they replace instances. */
export const PolicyPanel = ({
  policy,
  hasOrder = true,
  change,
}: {
  readonly policy: AnyPolicy;
  /** Whether the order of the instances can be chosen. */
  readonly hasOrder?: boolean;
  /** What leads to the form. */
  readonly change: ReactNode;
}) => (
  <Panel title={t('Updates')} actions={change}>
    <div className="stack">
      {policy.from !== 'manual' && (
        <Notice kind="warning">
          <p>{automaticRisks[policy.from]}</p>
        </Notice>
      )}
      <Facts facts={factsOf(policy, hasOrder)} />
    </div>
  </Panel>
);

const factsOf = (
  { from, window, order, ready_seconds, deadline_seconds, on_failure }: AnyPolicy,
  hasOrder: boolean,
): readonly Fact[] => [
  [t('Updates begin'), beginWords[from]],
  ...(from === 'manual'
    ? []
    : [[t('Maintenance window'), window ? windowWords(window) : t('none: at any time')] as const]),
  ...(hasOrder ? [[t('Order'), orderWords[order]] as const] : []),
  [t('Must be ready for'), wordsOfSeconds(ready_seconds)],
  [t('Fails after'), wordsOfSeconds(deadline_seconds)],
  [t('If an update fails'), failureWords[on_failure]],
];

const wordsOfSeconds = (seconds: number): string =>
  t('{count, plural, one {{amount} second} other {{amount} seconds}}', {
    count: seconds,
    amount: formatCount(seconds),
  });
