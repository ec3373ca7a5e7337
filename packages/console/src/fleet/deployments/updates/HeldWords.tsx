import { rich, t } from '../../../shared/texts/texts.ts';
import { wordsOfCode } from '../../../shared/ui/display/format.ts';
import { Time } from '../../../shared/ui/display/Time.tsx';
import type { Deployment } from '../../api.ts';

type Held = Pick<NonNullable<NonNullable<Deployment['update']>['held']>, 'reason' | 'message' | 'at' | 'generation'>;

/** Why an update does not start without a decision: the same configuration has failed, or the template is blocked. */
export const HeldWords = ({ held: { reason, message, at, generation } }: { readonly held: Held }) => (
  <p>
    {reason === 'TemplateBlocked'
      ? t('The publisher has blocked the template.')
      : at === null || generation === null
        ? message
        : rich('The same configuration failed {time} with {reason}.', {
            time: <Time at={at} />,
            reason: wordsOfCode(reason),
          })}
  </p>
);
