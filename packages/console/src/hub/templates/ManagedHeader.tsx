import { CopyPlus } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { Status } from '../../shared/ui/display/Status.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import type { ManagedApplication, ManagedTemplate } from '../api.ts';
import { visibilityLook } from '../looks.ts';

/** The header of the page of a template or an application for administrators. */
export const ManagedHeader = ({
  of: { name, slug, is_public, status },
  list,
  copyHref,
  catalogHref,
  actions,
}: {
  readonly of: Pick<ManagedTemplate & ManagedApplication, 'name' | 'slug' | 'is_public' | 'status'>;
  /** The list that contains it. */
  readonly list: NonNullable<ComponentProps<typeof PageHeader>['crumbs']>[number];
  /** The form that begins as a copy. */
  readonly copyHref: string;
  readonly catalogHref: string;
  /** Further actions, before the others. */
  readonly actions?: ReactNode;
}) => (
  <PageHeader
    crumbs={[list]}
    title={name}
    beside={
      <>
        <Status {...visibilityLook(!is_public)} />
        <TemplateStatus status={status} />
      </>
    }
    about={<code>{slug}</code>}
    actions={
      <>
        {actions}
        <ButtonLink icon={CopyPlus} href={copyHref}>
          {t('Duplicate')}
        </ButtonLink>
        <ButtonLink href={catalogHref}>{t('View in the catalog')}</ButtonLink>
      </>
    }
  />
);
