import type { Template } from '@svc/contract';
import { Cpu, MemoryStick, Microchip } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../texts/texts.ts';
import { formatBytes, formatCpus, parseQuantity } from '../ui/display/format.ts';
import { CatalogCard } from './CatalogCard.tsx';

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
  <CatalogCard object={template} href={href} icon={iconOf?.(template)} needs={<TemplateNeeds template={template} />}>
    {children}
  </CatalogCard>
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
  </>
);
