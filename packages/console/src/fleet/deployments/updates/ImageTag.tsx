import { useMutation } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { isolated, rich, t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { Time } from '../../../shared/ui/display/Time.tsx';
import { ErrorView } from '../../../shared/ui/feedback/states.tsx';
import { type Deployment, fleet, useBlocked } from '../../api.ts';

/** The number of characters of a digest that identify an image to people. */
const SHORT_DIGEST = 'sha256:'.length + 12;

export const shortDigest = (digest: string): string => digest.slice(0, SHORT_DIGEST);

/** The tag of an image reference; undefined if it has a digest instead. */
export const tagOf = (reference: string): string | undefined => /:([^:/@]+)$/.exec(reference.split('@')[0] ?? '')?.[1];

/** Whether the registry can be asked which image the tag of a deployment names. */
export const hasImageTag = ({ target, desired_state, pull, image }: Deployment): boolean =>
  target?.host_id != null && desired_state === 'running' && pull !== 'never' && !image.reference.includes('@');

/** Which image the tag of a deployment names in its registry, and the way to ask again. */
export function ImageTag({ deployment }: { readonly deployment: Deployment }) {
  const { id } = deployment;
  const blocked = useBlocked();
  const check = useMutation({
    ...fleet.change('checkDeploymentImage'),
    onSuccess: (reply) =>
      fleet.queries.setQueryData(fleet.read('getDeployment', { params: { id } }).queryKey, {
        deployment: reply.deployment,
      }),
  });
  // A replica of version 0.2 states none of these members.
  const image: Partial<Deployment['image']> = deployment.image;
  const isChecking = check.isPending || image.checking === true;
  return (
    <span className="stack-small">
      <span className="row">
        <span>{isChecking ? t('The registry is being asked…') : <Known deployment={deployment} />}</span>
        <Button
          size="small"
          icon={RefreshCw}
          pending={isChecking}
          blocked={blocked('checkDeploymentImage')}
          onClick={() => check.mutate({ params: { id } })}
        >
          {t('Check now')}
        </Button>
      </span>
      {image.check_error && !isChecking && (
        <span className="muted small">
          {rich('The last check failed: {message}', { message: <bdi>{image.check_error}</bdi> })}
        </span>
      )}
      {check.error && <ErrorView error={check.error} />}
    </span>
  );
}

function Known({ deployment: { image, update } }: { readonly deployment: Deployment }) {
  if (!image.checked_at || !image.latest_digest) return t('not checked');
  const time = <Time at={image.checked_at} />;
  return update?.kinds.includes('image')
    ? rich('another image ({digest}), checked {time}', {
        digest: <code>{isolated(shortDigest(image.latest_digest))}</code>,
        time,
      })
    : rich('the same image, checked {time}', { time });
}
