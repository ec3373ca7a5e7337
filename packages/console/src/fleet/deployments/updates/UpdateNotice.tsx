import { CircleArrowUp } from 'lucide-react';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { ButtonLink } from '../../../shared/ui/controls/Button.tsx';
import { Notice } from '../../../shared/ui/feedback/states.tsx';
import type { Deployment } from '../../api.ts';
import { HeldWords } from './HeldWords.tsx';
import { tagOf } from './ImageTag.tsx';

/** That an update is available, and why it is held, with the way to its review. */
export function UpdateNotice({ deployment }: { readonly deployment: Deployment }) {
  const { id, update } = deployment;
  if (!update) return null;
  const { held } = update;
  return (
    <Notice kind={held ? 'warning' : 'info'} title={titleOf(deployment, update)}>
      {update.kinds.includes('image') && update.kinds.includes('template') && (
        <p>{t('Its tag also names another image than the one that runs.')}</p>
      )}
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

function titleOf({ image }: Deployment, { kinds, to_version: version }: NonNullable<Deployment['update']>): string {
  if (version) return t('{version} is available', { version });
  const tag = tagOf(image.reference);
  const isOfImage = kinds.includes('image') && !kinds.includes('template');
  return isOfImage && tag !== undefined
    ? t('Another image is available for the tag {tag}', { tag })
    : t('An update is available');
}
