import type { Application, Template } from '@svc/contract';
import { Download, Star } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { t } from '../texts/texts.ts';
import { formatCount } from '../ui/display/format.ts';
import { TemplateStatus } from './TemplateAdvice.tsx';
import { TemplateGlyph } from './TemplateGlyph.tsx';
import { tierLabel } from './tiers.ts';

/** A template or an application of the catalog as a card. */
export const CatalogCard = ({
  object,
  href,
  icon,
  needs,
  children,
}: {
  readonly object: Template | Application;
  readonly href: string;
  /** The address of the icon; undefined if there is none. */
  readonly icon?: string | undefined;
  /** What it requires, in few words. */
  readonly needs?: ReactNode;
  readonly children?: ReactNode;
}) => (
  <article className="card">
    <div className="row-nowrap">
      <TemplateGlyph template={object} src={icon} />
      <div className="grow">
        <h2 className="truncate" title={object.name}>
          <Link href={href} className="cover">
            {object.name}
          </Link>
        </h2>
        <span className="muted small truncate">
          <bdi>{object.version}</bdi> · {object.category_name}
        </span>
      </div>
      {object.is_featured && <Star size={16} className="text-busy" aria-label={t('Featured')} />}
    </div>
    <p className="muted clamp">{object.description || t('No description.')}</p>
    <footer>
      <TemplateStatus status={object.status} />
      {needs}
      {object.min_tier !== 'free' && <span className="tag nowrap">{tierLabel(object.min_tier)}</span>}
      {!object.is_public && <span className="tag nowrap">{t('private')}</span>}
      {object.download_count > 0 && (
        <span className="tag nowrap" title={t('Downloads')}>
          <Download size={12} aria-hidden /> {formatCount(object.download_count)}
        </span>
      )}
      {children && <span className="above">{children}</span>}
    </footer>
  </article>
);
