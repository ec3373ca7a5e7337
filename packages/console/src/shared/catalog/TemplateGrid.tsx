import type { Template } from '@svc/contract';
import { Cpu, Download, MemoryStick, Microchip, Star } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { t } from '../texts/texts.ts';
import { formatBytes, formatCount, formatCpus, parseQuantity } from '../ui/display/format.ts';
import { CategoryIcon } from './CategoryIcon.tsx';

/** Templates as cards. */
export const TemplateGrid = ({
  templates,
  hrefOf,
  actions,
}: {
  readonly templates: readonly Template[];
  readonly hrefOf: (template: Template) => string;
  readonly actions?: (template: Template) => ReactNode;
}) => (
  <ul className="grid">
    {templates.map((template) => (
      <li key={template.id}>
        <TemplateCard template={template} href={hrefOf(template)}>
          {actions?.(template)}
        </TemplateCard>
      </li>
    ))}
  </ul>
);

export const TemplateCard = ({
  template,
  href,
  children,
}: {
  readonly template: Template;
  readonly href: string;
  readonly children?: ReactNode;
}) => (
  <article className="card">
    <div className="row-nowrap">
      <span className="glyph" data-tint={tintOf(template.category_name)}>
        <CategoryIcon name={template.category_icon} />
      </span>
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
      <TemplateNeeds template={template} />
      {children && <span className="above">{children}</span>}
    </footer>
  </article>
);

const TINTS = 6;

/** The colour of a category, as a number that the styles know. */
const tintOf = (category: string): number =>
  [...category].reduce((sum, character) => (31 * sum + (character.codePointAt(0) ?? 0)) % 1_000_003, 0) % TINTS;

/** What a template requires, in few words. */
const TemplateNeeds = ({ template }: { readonly template: Template }) => (
  <>
    {template.cpu_request && (
      <span className="tag">
        <Cpu size={12} aria-hidden /> {formatCpus(parseQuantity(template.cpu_request))}
      </span>
    )}
    {template.memory_request && (
      <span className="tag">
        <MemoryStick size={12} aria-hidden /> {formatBytes(parseQuantity(template.memory_request))}
      </span>
    )}
    {template.gpu_count > 0 && (
      <span className="tag">
        <Microchip size={12} aria-hidden />{' '}
        {t('{count, plural, one {# GPU} other {# GPUs}}', { count: template.gpu_count })}
      </span>
    )}
    {template.min_tier !== 'free' && <span className="tag">{template.min_tier}</span>}
    {!template.is_public && <span className="tag">{t('private')}</span>}
    {template.download_count > 0 && (
      <span className="tag" title={t('Downloads')}>
        <Download size={12} aria-hidden /> {formatCount(template.download_count)}
      </span>
    )}
  </>
);
