import type { Template } from '@svc/contract';
import { Cpu, Download, MemoryStick, Microchip, Star } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { t } from '../texts/texts.ts';
import { formatBytes, formatCount, formatCpus, parseQuantity } from '../ui/display/format.ts';
import { TemplateStatus } from './TemplateAdvice.tsx';
import { TemplateGlyph } from './TemplateGlyph.tsx';
import { tierLabel } from './tiers.ts';

/** Templates as cards. */
export const TemplateGrid = <T extends Template>({
  templates,
  hrefOf,
  iconOf,
  actions,
}: {
  readonly templates: readonly T[];
  readonly hrefOf: (template: T) => string;
  /** The address of the icon of a template; undefined if it has none. */
  readonly iconOf?: IconOf;
  readonly actions?: (template: T) => ReactNode;
}) => (
  <ul className="grid">
    {templates.map((template) => (
      <li key={template.id}>
        <TemplateCard template={template} href={hrefOf(template)} iconOf={iconOf}>
          {actions?.(template)}
        </TemplateCard>
      </li>
    ))}
  </ul>
);

type IconOf = (template: Template) => string | undefined;

export const TemplateCard = ({
  template,
  href,
  iconOf,
  children,
}: {
  readonly template: Template;
  readonly href: string;
  readonly iconOf?: IconOf | undefined;
  readonly children?: ReactNode;
}) => (
  <article className="card">
    <div className="row-nowrap">
      <TemplateGlyph template={template} src={iconOf?.(template)} />
      <div className="grow">
        <h2 className="truncate" title={template.name}>
          <Link href={href} className="cover">
            {template.name}
          </Link>
        </h2>
        <span className="muted small truncate">
          <bdi>{template.version}</bdi> · {template.category_name}
        </span>
      </div>
      {template.is_featured && <Star size={16} className="text-busy" aria-label={t('Featured')} />}
    </div>
    <p className="muted clamp">{template.description || t('No description.')}</p>
    <footer>
      <TemplateStatus status={template.status} />
      <TemplateNeeds template={template} />
      {children && <span className="above">{children}</span>}
    </footer>
  </article>
);

/** What a template requires, in few words. */
const TemplateNeeds = ({ template }: { readonly template: Template }) => (
  <>
    {template.cpu_request && (
      <span className="tag nowrap">
        <Cpu size={12} aria-hidden /> {formatCpus(parseQuantity(template.cpu_request))}
      </span>
    )}
    {template.memory_request && (
      <span className="tag nowrap">
        <MemoryStick size={12} aria-hidden /> {formatBytes(parseQuantity(template.memory_request))}
      </span>
    )}
    {template.gpu_count > 0 && (
      <span className="tag nowrap">
        <Microchip size={12} aria-hidden />{' '}
        {t('{count, plural, one {# GPU} other {# GPUs}}', { count: template.gpu_count })}
      </span>
    )}
    {template.min_tier !== 'free' && <span className="tag nowrap">{tierLabel(template.min_tier)}</span>}
    {!template.is_public && <span className="tag nowrap">{t('private')}</span>}
    {template.download_count > 0 && (
      <span className="tag nowrap" title={t('Downloads')}>
        <Download size={12} aria-hidden /> {formatCount(template.download_count)}
      </span>
    )}
  </>
);
