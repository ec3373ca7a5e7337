import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { severities } from '../../shared/api/severities.ts';
import { AdvisoryAddress, Replacement } from '../../shared/catalog/TemplateAdvice.tsx';
import { href } from '../../shared/routing/href.ts';
import { isolated, t } from '../../shared/texts/texts.ts';
import { CheckField } from '../../shared/ui/controls/Field.tsx';
import { looks, Status, type StatusLook } from '../../shared/ui/display/Status.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import type { Plan, Template } from '../api.ts';

export type Advice = NonNullable<Plan['advice']>;
type Advisory = Advice['advisories'][number];

const severityLooks: ReadonlyMap<string, StatusLook> = new Map([
  ['critical', looks.alert(t('Critical advisory'))],
  ['warning', looks.warning(t('Advisory'))],
]);

/** The look of an advisory. One with a severity of a later version of the hub is a note. */
const severityLook = (severity: string): StatusLook => severityLooks.get(severity) ?? looks.neutral(t('Note'));

const statusLooks: ReadonlyMap<string, StatusLook> = new Map([
  ['blocked', looks.bad(t('Blocked by the publisher'))],
  ['deprecated', looks.warning(t('Deprecated by the publisher'))],
]);

/** The status of a template that is not active, and the highest severity of its advisories. */
export function AdviceMarks({ advice }: { readonly advice: Pick<Advice, 'status' | 'advisories'> | null }) {
  if (advice === null) return null;
  const highest = severities.findLast((one) => advice.advisories.some(({ severity }) => severity === one));
  const status = statusLooks.get(advice.status);
  return (
    <>
      {status && <Status {...status} />}
      {highest && <Status {...severityLook(highest)} />}
    </>
  );
}

/** What advice is about. */
type Kind = 'template' | 'application';

const titles: Readonly<Record<Kind, string>> = {
  template: t('The publisher says about the template'),
  application: t('The publisher says about the application'),
};

const hrefOf = (kind: Kind, slug: string): string =>
  kind === 'template' ? href('/catalog/:slug', { slug }) : href('/catalog/applications/:slug', { slug });

/** What the hub says about a template or an application. Its texts are shown as they are; only the address of an advisory becomes a link. */
export function AdviceNotice({
  advice: { status, status_message, replacement, advisories, certain },
  kind = 'template',
  children,
}: {
  readonly advice: Advice;
  readonly kind?: Kind;
  /** What the user can do about it. */
  readonly children?: ReactNode;
}) {
  const look = statusLooks.get(status);
  if (!look && advisories.length === 0) return null;
  return (
    <Notice kind="warning" title={titles[kind]}>
      {look && (
        <div className="stack-small">
          <Status {...look} />
          {status_message && <p>{isolated(status_message)}</p>}
          {replacement && <Replacement template={<Link href={hrefOf(kind, replacement)}>{replacement}</Link>} />}
        </div>
      )}
      {advisories.map((advisory) => (
        <div key={advisory.id} className="stack-small">
          <span className="row">
            <Status {...severityLook(advisory.severity)} />
            {advisory.acknowledged && <span className="muted small">{t('acknowledged')}</span>}
          </span>
          <Words advisory={advisory} />
        </div>
      ))}
      {!certain && advisories.length > 0 && (
        <p className="muted small">{t('It is not known which revision was copied. Some of this may not apply.')}</p>
      )}
      {children}
    </Notice>
  );
}

const Words = ({ advisory: { message, url } }: { readonly advisory: Pick<Advisory, 'message' | 'url'> }) => (
  <p>
    {isolated(message)} {url && <AdvisoryAddress url={url} />}
  </p>
);

/** Why a template cannot be deployed: it is blocked. Undefined otherwise. */
export const blockedReasonOf = ({ status }: Pick<Template, 'status'>): string | undefined =>
  status === 'blocked' ? t('The publisher has blocked the template.') : undefined;

type Advised = Pick<Template, 'status' | 'status_message' | 'replacement' | 'revision' | 'advisories'>;

/** The advice about the present revision of a template or an application of the mirror. */
export const adviceOfCatalog = (advised: Advised): Advice => {
  const { status, status_message, replacement, revision } = advised;
  const isAbout = ({ first_revision, last_revision }: Template['advisories'][number]) =>
    revision === null || (first_revision <= revision && (last_revision === null || revision <= last_revision));
  const advisories = advised.advisories.filter(isAbout).map((advisory) => ({ ...advisory, acknowledged: false }));
  return { status, status_message, replacement, advisories, certain: revision !== null };
};

/** A box for each critical advisory, without which the service refuses the request. */
export function AcknowledgeFields({
  advice,
  acknowledged,
  onChange,
}: {
  readonly advice: Advice | null | undefined;
  /** The ids of the advisories that the user has acknowledged. */
  readonly acknowledged: readonly string[];
  readonly onChange: (acknowledged: readonly string[]) => void;
}) {
  // The plan marks those of this request as acknowledged, too.
  const critical = advice?.advisories.filter(
    ({ id, severity, acknowledged: isKnown }) => severity === 'critical' && (!isKnown || acknowledged.includes(id)),
  );
  if (!critical || critical.length === 0 || advice?.status === 'blocked') return null;
  return (
    <fieldset className="form-section" name="acknowledge">
      <h2>{t('Critical advisories')}</h2>
      {critical.map((advisory) => (
        <div key={advisory.id} className="stack-small">
          <Words advisory={advisory} />
          <CheckField
            label={t('Deploy it despite this advisory')}
            hint={t('The audit log records that you have acknowledged it.')}
            checked={acknowledged.includes(advisory.id)}
            onChange={(isChecked) =>
              onChange(isChecked ? [...acknowledged, advisory.id] : acknowledged.filter((each) => each !== advisory.id))
            }
          />
        </div>
      ))}
    </fieldset>
  );
}
