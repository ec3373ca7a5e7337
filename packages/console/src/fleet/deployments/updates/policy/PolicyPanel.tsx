import { Link } from 'wouter';
import { href } from '../../../../shared/routing/href.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { type Fact, Facts } from '../../../../shared/ui/display/Facts.tsx';
import { formatCount } from '../../../../shared/ui/display/format.ts';
import { Notice } from '../../../../shared/ui/feedback/states.tsx';
import { Panel } from '../../../../shared/ui/shell/PageHeader.tsx';
import type { Deployment } from '../../../api.ts';
import type { Policy } from './policy-draft.ts';
import { automaticRisks, beginWords, failureWords, orderWords, windowWords } from './policy-words.ts';

/** How updates of a deployment begin, and how they replace its instances. */
export function PolicyPanel({ deployment: { id, updates } }: { readonly deployment: Deployment }) {
  // A replica of version 0.2 states none.
  const policy: Policy | undefined = updates;
  if (!policy) return null;
  return (
    <Panel title={t('Updates')} actions={<Link href={href('/deployments/:id/change', { id })}>{t('Change')}</Link>}>
      <div className="stack">
        {policy.from !== 'manual' && (
          <Notice kind="warning">
            <p>{automaticRisks[policy.from]}</p>
          </Notice>
        )}
        <Facts facts={factsOf(policy)} />
      </div>
    </Panel>
  );
}

const factsOf = ({ from, window, order, ready_seconds, deadline_seconds, on_failure }: Policy): readonly Fact[] => [
  [t('Updates begin'), beginWords[from]],
  ...(from === 'manual'
    ? []
    : [[t('Maintenance window'), window ? windowWords(window) : t('none: at any time')] as const]),
  [t('Order'), orderWords[order]],
  [t('Must be ready for'), wordsOfSeconds(ready_seconds)],
  [t('Fails after'), wordsOfSeconds(deadline_seconds)],
  [t('If an update fails'), failureWords[on_failure]],
];

const wordsOfSeconds = (seconds: number): string =>
  t('{count, plural, one {{amount} second} other {{amount} seconds}}', {
    count: seconds,
    amount: formatCount(seconds),
  });
