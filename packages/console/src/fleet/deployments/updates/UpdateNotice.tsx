import { CircleArrowUp } from 'lucide-react';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { ButtonLink } from '../../../shared/ui/controls/Button.tsx';
import { Notice } from '../../../shared/ui/feedback/states.tsx';
import type { Deployment } from '../../api.ts';
import { HeldWords } from './HeldWords.tsx';

/** That an update is available, and why it is held, with the way to its review. */
export function UpdateNotice({ deployment: { id, update } }: { readonly deployment: Deployment }) {
  if (!update) return null;
  const { to_version: version, held } = update;
  return (
    <Notice
      kind={held ? 'warning' : 'info'}
      title={version ? t('{version} is available', { version }) : t('An update is available')}
    >
      {held && <HeldWords held={held} />}
      <div>
        <ButtonLink
          tone={held ? undefined : 'primary'}
          icon={CircleArrowUp}
          href={href('/deployments/:id/update', { id })}
        >
          {held && held.generation !== null ? t('Try again') : t('Review update')}
        </ButtonLink>
      </div>
    </Notice>
  );
}
