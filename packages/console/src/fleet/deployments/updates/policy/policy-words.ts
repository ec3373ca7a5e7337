import { locale } from '../../../../shared/texts/language.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { formatList } from '../../../../shared/ui/display/format.ts';
import { type Begin, type Policy, type Weekday, weekdays } from './policy-draft.ts';

export const beginWords: Readonly<Record<Begin, string>> = {
  manual: t('Only when somebody starts them'),
  template: t('Automatically, when the template changes'),
  image: t('Automatically, when the tag names another image (on hosts)'),
  all: t('Automatically, when the template or the image changes'),
  application: t('Automatically, when the application of the catalog changes'),
};

export const orderWords: Readonly<Record<Policy['order'], string>> = {
  auto: t('New instances first, where possible'),
  start_first: t('New instances first'),
  stop_first: t('An old instance ends before its successor starts'),
};

export const failureWords: Readonly<Record<Policy['on_failure'], string>> = {
  auto: t('Return to the version before, unless the new one could have changed data'),
  roll_back: t('Return to the version before'),
  stop: t('Wait for a person'),
};

/** What operators must know before they switch automatic updates on. */
export const automaticRisks: Readonly<Record<Exclude<Begin, 'manual'>, string>> = {
  template: t('The administrators of the hub can then replace what runs in this deployment.'),
  image: t('Whoever can write the tag in the registry can then replace what runs in this deployment.'),
  all: t(
    'The administrators of the hub, and whoever can write the tag in the registry, can then replace what runs in this deployment.',
  ),
  application: t('The administrators of the hub can then replace what all parts of this application run.'),
};

const limitsOfDeployments = t(
  'They cannot give it another image name or registry, secret, port, network, volume or permission: such an update waits for a person.',
);

/** What automatic updates cannot do. */
export const automaticLimits: Readonly<Record<Exclude<Begin, 'manual'>, string>> = {
  template: limitsOfDeployments,
  image: limitsOfDeployments,
  all: limitsOfDeployments,
  application: t(
    'They cannot add or remove a part, or give one another image name or registry, secret, port, network, volume or permission: such an update waits for a person.',
  ),
};

const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
/** A Monday, in UTC. */
const MONDAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

export const nameOfDay = (day: Weekday): string => dayName.format(MONDAY_MS + weekdays.indexOf(day) * DAY_MS);

/** When automatic updates begin. */
export const windowWords = ({ days, start, end, time_zone }: NonNullable<Policy['window']>): string =>
  t('{days}, {start} to {end}, {zone}', { days: formatList(days.map(nameOfDay)), start, end, zone: time_zone });
